require "uri"

# What the variables of the environment say: where to write, and where the services are.
module Surroundings
  # What a page needs is not there; the message names the way out.
  class Missing < StandardError; end

  module_function

  # The folder of all that is written. There is no default: the only one at hand would lie inside the app.
  def data
    ENV.fetch("APP_DATA") { abort "rails: set APP_DATA to a writable folder" }
  end

  # The folder of cached pages, which a front end may serve.
  def public_folder
    File.join(data, "public")
  end

  # Sockets or addresses of memcached servers: MEMCACHED_SOCKET or MEMCACHED_SERVER, and MEMCACHED_SOCKET_2 and so on.
  def memcached
    names = ["", *(2..9).map { |number| "_#{number}" }].flat_map do |ending|
      ["MEMCACHED_SOCKET#{ending}", "MEMCACHED_SERVER#{ending}"]
    end
    ENV.values_at(*names).compact.reject(&:empty?)
  end

  def require_memcached!
    raise Missing, 'MEMCACHED_SOCKET is not set: add "memcached" to [app] services' if memcached.empty?
  end

  def require_mysql!
    raise Missing, 'DATABASE_URL is no mysql:// URL: add "mariadb" to [app] services' if mysql.empty?
  end

  # DATABASE_URL as Active Record wants it; ?unix_socket= names a socket instead of a host. Empty when it is not MySQL's.
  def mysql
    url = URI.parse(ENV.fetch("DATABASE_URL", ""))
    return {} unless url.scheme == "mysql"

    {
      **server(url),
      username: plain(url.user),
      password: plain(url.password),
      database: plain(url.path.delete_prefix("/"))
    }
  rescue URI::InvalidURIError
    {}
  end

  def server(url)
    socket = URI.decode_www_form(url.query || "").to_h["unix_socket"]
    return { socket: socket } if socket

    { host: plain(url.host), port: url.port || 3306 }
  end

  def plain(text)
    URI.decode_www_form_component((text || "").gsub("+", "%2B"))
  end
end
