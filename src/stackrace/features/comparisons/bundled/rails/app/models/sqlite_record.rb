# The tables in SQLite.
class SqliteRecord < ActiveRecord::Base
  self.abstract_class = true
  connects_to database: { writing: :sqlite, reading: :sqlite }
end
