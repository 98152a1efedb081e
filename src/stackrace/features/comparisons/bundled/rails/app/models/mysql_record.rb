# The tables in MySQL.
class MysqlRecord < ActiveRecord::Base
  self.abstract_class = true
  connects_to database: { writing: :mysql, reading: :mysql }
end
