# Serves cached pages where no front end does, in front of the rest of Rails.
# ActionDispatch::Static looks at a file, and again when it sends it; swept in between, its answer is a 404 or has
# the length of another page. Here a page is read at once: it is there, or the app is asked.
class PageFiles
  # The page's own URLs alone, so that no path leads anywhere else.
  PAGE = %r{\A(/cached(?:/[1-9][0-9]{0,8})?)/?\z}

  def initialize(app, folder)
    @app = app
    @folder = folder
  end

  def call(env)
    page = cached(env["PATH_INFO"]) if %w[GET HEAD].include?(env["REQUEST_METHOD"])
    return @app.call(env) unless page

    headers = { "Content-Type" => "text/html; charset=utf-8", "Content-Length" => page.bytesize.to_s }
    [200, headers, env["REQUEST_METHOD"] == "HEAD" ? [] : [page]]
  end

  private

  def cached(path)
    name = path[PAGE, 1]
    File.binread("#{@folder}#{name}.html") if name
  rescue Errno::ENOENT
    nil
  end
end
