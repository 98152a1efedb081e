# Run once before a race: the tables with their first row, cached nowhere yet. May be run again.
require_relative "config/environment"
require "fileutils"

# What every page shows.
FIRST = { id: 1, title: "Hello", body: "Hello world!" }.freeze

def fill(model)
  model.connection.create_table(:pages, if_not_exists: true) do |table|
    table.string :title, null: false
    table.text :body, null: false
  end
  model.reset_column_information
  model.find_or_initialize_by(id: FIRST[:id]).tap { |page| page.update!(FIRST) }
end

PageSweeper.after_commit(fill(SqlitePage))
fill MysqlPage unless Surroundings.mysql.empty?
FileUtils.mkdir_p(Surroundings.public_folder)

# Run by root, what was made here belongs to whom the folder was given, who will run the app.
owner = File.stat(Surroundings.data)
FileUtils.chown_R(owner.uid, owner.gid, Surroundings.data) if Process.uid.zero?
