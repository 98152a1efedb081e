# A page in MySQL.
class MysqlPage < MysqlRecord
  self.table_name = "pages"
end
