# As Rails generates it for production, less what this app does not have.
Rails.application.configure do
  config.cache_classes = true
  config.eager_load = true
  config.consider_all_requests_local = false
  config.log_level = :info
  config.log_tags = [:request_id]
  config.active_support.deprecation = :notify
  config.active_record.dump_schema_after_migration = false

  # An empty list asks no Host header: the app is reached by address, and by whatever name a stack is raced under.
  config.hosts.clear

  # Page caching. A front end or Passenger serves the files of `public` before the app is asked; where none does,
  # PageFiles does, before the rest of Rails. There are no other static files.
  config.action_controller.perform_caching = true
  config.action_controller.page_cache_directory = Surroundings.public_folder
  config.middleware.insert_before ActionDispatch::Executor, PageFiles, Surroundings.public_folder
  config.public_file_server.enabled = false

  # Without memcached nothing is stored; the pages that need it say so.
  config.cache_store =
    if Surroundings.memcached.empty?
      :null_store
    else
      # Dalli waits half a second, then does without this server: a busy machine would change what a page does.
      [:mem_cache_store, *Surroundings.memcached, { namespace: "stackrace", socket_timeout: 60, failover: false }]
    end
end
