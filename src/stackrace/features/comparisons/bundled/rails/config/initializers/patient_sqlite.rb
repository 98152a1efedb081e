# SQLite itself waits for a lock without letting Ruby's other threads run, and one of them may hold that lock: nobody
# moves until the time is over and a page says 500. Ruby's sleep lets them run. Source: sqlite.org/c3ref/busy_handler.html
module PatientSqlite
  PAUSE_S = 0.002

  private

  def configure_connection
    super
    attempts = (@config.fetch(:timeout) / (1000 * PAUSE_S)).ceil
    raw_connection.busy_handler do |attempt|
      sleep PAUSE_S
      attempt < attempts
    end
  end
end

ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend PatientSqlite }
