# frozen_string_literal: true

# The smallest Rack application with two pages: a constant one and one that changes with the clock.

PAGES = {
  "/" => -> { "Hello from Rack\n" },
  "/time" => -> { "#{Time.now.utc.strftime('%H:%M:%S')}\n" },
}.freeze

run(lambda do |env|
  page = PAGES[env["PATH_INFO"]]
  body = page ? page.call : "no such page\n"
  headers = { "content-type" => "text/plain", "content-length" => body.bytesize.to_s }
  [page ? 200 : 404, headers, env["REQUEST_METHOD"] == "HEAD" ? [] : [body]]
end)
