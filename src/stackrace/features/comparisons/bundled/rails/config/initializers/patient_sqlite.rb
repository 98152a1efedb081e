# Waits for a lock of SQLite in Ruby, where other threads run meanwhile: one of them may hold that lock. SQLite itself
# would wait without letting them. Nor may a busy handler sleep: it holds the connection's mutex, and the garbage
# collector of another thread, which finalizes a statement of that connection, would wait for it with all of Ruby.
# Source: sqlite.org/c3ref/busy_handler.html; sqlite.org/c3ref/step.html, SQLITE_BUSY.
module PatientSqlite
  PAUSE_S = 0.002
  MOST_ATTEMPTS = 30_000

  module_function

  def patiently
    attempts = 0
    begin
      yield
    rescue SQLite3::BusyException
      raise if (attempts += 1) == MOST_ATTEMPTS

      sleep PAUSE_S
      retry
    end
  end

  # To prepare a statement reads the schema, once for each connection.
  module Preparing
    def new(*)
      PatientSqlite.patiently { super }
    end
  end

  module Stepping
    def step
      PatientSqlite.patiently { super }
    end
  end
end

ActiveSupport.on_load(:active_record_sqlite3adapter) do
  SQLite3::Statement.singleton_class.prepend PatientSqlite::Preparing
  SQLite3::Statement.prepend PatientSqlite::Stepping
end
