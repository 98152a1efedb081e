# A Rails application on Debian's gems alone: no Bundler, each part is required by name.
# Source: Rails Guides 6.1, "Configuring Rails Applications" and "The Rails Initialization Process".
ENV["RAILS_ENV"] ||= "production"

# Active Record reads this variable, too, and takes an empty one for a broken one.
ENV.delete("DATABASE_URL") if ENV["DATABASE_URL"] == ""

begin
  gem "railties", "~> 6.1.0"
  require "rails"
  require "active_record/railtie"
  require "action_controller/railtie"
  require "action_view/railtie"
  require "action_controller/page_caching"
rescue LoadError => error
  abort "rails: #{error.message}; run: stackrace install rails"
end
require_relative "../lib/page_files"
require_relative "../lib/surroundings"

module Sample
  # Everything that is written lies in APP_DATA; the app's own folder may be read-only.
  class Application < Rails::Application
    config.root = File.expand_path("..", __dir__)
    config.load_defaults 6.1

    # Nothing here is signed or encrypted for anybody, so the key protects nothing.
    config.secret_key_base = "a harmless key of a sample application, the same for everybody" * 2

    config.paths["log"] = File.join(Surroundings.data, "log", "#{Rails.env}.log")
    config.paths["tmp"] = File.join(Surroundings.data, "tmp")
    config.paths["public"] = Surroundings.public_folder
  end
end
