# frozen_string_literal: true

# Examines a Rack application in process, as this folder's Python examines WSGI and ASGI applications: it reads an
# order in JSON from stdin and reports to the file descriptor given as argument. It writes lines "stage ..." while
# it works, then one line of JSON; or a traceback of the place where the app hangs. messages.py defines both.
# Source: the Rack specification, SPEC.rdoc of Rack 2.2 and 3.

require "json"
require "stringio"
require "uri"

# A module of its own, so that the app sees no method or constant of the examiner.
module StackraceExaminer
  extend self

  REPORT = IO.for_fd(Integer(ARGV.shift), "w")
  REPORT.sync = true
  REPORT.close_on_exec = true
  ORDER = JSON.parse($stdin.read)

  PAUSE_S = 1.1 # between the first and the second asking: a page that shows the time changes once a second
  MOST = ORDER["in_doubt"] ? 1000 : 12 # askings per request
  PATIENCE_S = ORDER["in_doubt"] ? 3.0 : 0.5 # most seconds per request for askings after the first
  ANSWER_S = 20.0 # the longest answer
  REDIRECTS = [301, 302, 303, 307, 308].freeze
  # Keys under which Rails, Rack's own middleware and Sinatra store an exception that they turned into an answer
  EXCEPTIONS = %w[action_dispatch.exception rack.exception sinatra.error].freeze

  Asked = Struct.new(:method, :path, :headers, :body, keyword_init: true)
  # A response body that is received, as in callers.py: kept up to a limit, and read further, since it may still end
  class Body
    READ_ON = 16
    MOST_MORE = 1_000_000
    DRIPS_S = 5.0
    STEADY_BYTES = 1 << 20

    attr_reader :kept, :bytes, :endless

    def initialize
      @kept = "".b
      @bytes = @more = 0
    end

    # Streaming apps call this, too; a writer that goes on too long learns that the client has left.
    def write(*pieces)
      pieces.each { |piece| raise Errno::EPIPE unless add(piece.to_s.b) }
      pieces.sum { |piece| piece.to_s.bytesize }
    end

    def <<(piece) = write(piece) && self

    def add(piece)
      @begun ||= StackraceExaminer.now
      room = [ORDER["most_body_bytes"] - @bytes, 0].max
      @bytes += piece.bytesize
      room.zero? ? @more += 1 : @kept << piece.byteslice(0, room)
      too_long = @bytes > READ_ON * ORDER["most_body_bytes"] || @more > MOST_MORE
      longest_s = @bytes < STEADY_BYTES ? DRIPS_S : ANSWER_S
      @endless = too_long || StackraceExaminer.now - @begun > longest_s
      !@endless
    end

    def read(*) = nil

    def flush = self

    def close = nil

    alias close_read close
    alias close_write close

    def closed? = false
  end

  Reply = Struct.new(:status, :headers, :body, :traceback, :body_bytes, :endless, :wall_s, :cpu_s, keyword_init: true) do
    def succeeded? = (200..299).cover?(status)

    def header(name) = headers.find { |key, _| key.downcase == name }&.last.to_s

    # Returns 3 if the status differs, 2 if the length does, 1 if only the content does, else 0.
    def difference(other)
      return 3 if status != other.status
      return 2 if body_bytes != other.body_bytes

      body == other.body ? 0 : 1
    end

    def message(before = nil)
      { status: status, headers: headers, body: before&.body == body ? nil : [body].pack("m0"),
        body_bytes: body_bytes, endless: endless, traceback: traceback }
    end
  end

  def stage(text) = REPORT.puts("stage #{text}")

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

  # Returns the app's own traceback in Python's form, with the message behind the frames.
  def traceback(error)
    frames = (error.backtrace || []).reject { |line| line.start_with?(__FILE__) }
    said, *more = error.message.dup.force_encoding("UTF-8").scrub.lines(chomp: true)
    ["Traceback (most recent call last):", *frames.reverse.map { |line| "  #{line}" },
     "#{error.class}: #{said}", *more].join("\n")
  end

  def load_app
    stage("loading Rack")
    require "bundler/setup" if File.file?("Gemfile.lock") # else Rack could be another one than the app's
    require "rack"
    require "rack/mock"
    stage("loading it")
    source = File.expand_path(ORDER["source"]) # as the servers name it
    raise Errno::ENOENT, source unless File.file?(source)

    # Rack 2 returns the app and its options, Rack 3 the app alone
    loaded = Rack::Builder.parse_file(source)
    loaded.is_a?(Array) ? loaded.first : loaded
  end

  def prepare(request)
    headers = request["headers"]
    headers = [["Host", ORDER["host"]], *headers] unless headers.any? { |name, _| name.downcase == "host" }
    body = request["body"].unpack1("m0")
    Asked.new(method: request["method"], path: request["path"], headers: headers, body: body)
  end

  def environ(asked)
    env = Rack::MockRequest.env_for(asked.path, method: asked.method, input: asked.body)
    env["rack.errors"] = $stderr
    host = ""
    asked.headers.each do |name, value|
      key = name.upcase.tr("-", "_")
      value = value.b
      host = value if key == "HOST"
      key = "HTTP_#{key}" unless %w[CONTENT_TYPE CONTENT_LENGTH].include?(key)
      env[key] = env.key?(key) ? "#{env[key]},#{value}" : value
    end
    env.delete("CONTENT_TYPE") unless asked.headers.any? { |name, _| name.downcase == "content-type" }
    env.merge("HTTP_HOST" => host, "SERVER_NAME" => host.split(":").first.to_s, "REQUEST_URI" => asked.path,
              "REMOTE_ADDR" => "127.0.0.1", "SERVER_PROTOCOL" => "HTTP/1.1", "HTTP_VERSION" => "HTTP/1.1")
  end

  def ask(app, asked)
    stage("answering #{asked.method} #{asked.path}")
    REPORT.puts("limit #{ANSWER_S}")
    @due = now + ANSWER_S
    env = environ(asked)
    status, headers, parts = app.call(env)
    body = collect(parts)
    pairs = headers.flat_map { |name, values| Array(values).flat_map { |value| value.to_s.split("\n") }.map { |v| [name, v] } }
    failed = status.to_i >= 500 ? EXCEPTIONS.filter_map { |key| env[key] }.first : nil
    Reply.new(status: status.to_i, headers: pairs, body: body.kept, traceback: failed ? traceback(failed) : "",
              body_bytes: body.bytes, endless: body.endless ? true : false)
  rescue StandardError, ScriptError => e
    Reply.new(status: 500, headers: [], body: "".b, traceback: traceback(e), body_bytes: 0, endless: false)
  end

  def collect(parts)
    body = Body.new
    parts.respond_to?(:each) ? parts.each { |part| body << part } : parts.call(body)
    body
  rescue Errno::EPIPE
    raise unless body.endless

    body
  ensure
    parts.close if parts.respond_to?(:close)
  end

  # Returns the path on the same site that the reply redirects to, or nil.
  def local_target(asked, reply)
    location = reply.header("location")
    return if !REDIRECTS.include?(reply.status) || location.empty?

    host = asked.headers.find { |name, _| name.downcase == "host" }.last
    target = URI.join("http://#{host}#{asked.path}", location)
    same = target.scheme == "http" && URI("http://#{host}").then { |own| [own.host, own.port] == [target.host, target.port] }
    target.request_uri if same && target.request_uri != asked.path
  rescue URI::Error
    nil
  end

  def first(app, asked)
    reply = ask(app, asked)
    target = ORDER["follow"] && local_target(asked, reply)
    return [asked, reply, ""] unless target

    there = asked.dup.tap { |copy| copy.path = target }
    [there, ask(app, there), asked.path]
  end

  # Asks at least once more, until the length differs, the app fails, or patience ends.
  def again(app, asked, reply)
    replies = [timed(app, asked, reply)]
    stop = now + PATIENCE_S
    while replies.length < MOST - 1 && now < stop && replies.last.succeeded? && reply.difference(replies.last) < 2
      replies << timed(app, asked, reply)
      unlike = replies.find { |other| reply.difference(other) == 1 }
      # bodies may be long, and one that differs is enough
      replies.last.body = unlike.body if unlike && reply.difference(replies.last) == 1
    end
    replies
  end

  def timed(app, asked, first)
    wall_s, cpu_s = now, cpu
    reply = first.endless ? first.dup : ask(app, asked)
    reply.wall_s, reply.cpu_s = now - wall_s, cpu - cpu_s
    reply.body = first.body if reply.body == first.body # which may be long
    reply
  end

  def median(values)
    low, high = values.sort.values_at((values.length - 1) / 2, values.length / 2)
    (low + high) / 2
  end

  # Yields as soon as every request has its first answer.
  def exchanges(app)
    firsts = ORDER["requests"].map { |request| first(app, prepare(request)) }
    yield
    sleep(PAUSE_S) if firsts.any? { |_, reply, _| reply.succeeded? }
    firsts.map do |asked, reply, via|
      replies = again(app, asked, reply)
      second = replies.max_by { |other| reply.difference(other) }
      { path: asked.path, via: via, added: [], first: reply.message, second: second.message(reply),
        wall_s: median(replies.map(&:wall_s)), cpu_s: median(replies.map(&:cpu_s)) }
    end
  end

  # Files that the app holds open for writing. Source: proc_pid_fdinfo(5).
  def written
    Dir.children("/proc/self/fd").filter_map do |number|
      flags = File.read("/proc/self/fdinfo/#{number}")[/^flags:\s*(\d+)/, 1].to_i(8)
      path = File.readlink("/proc/self/fd/#{number}")
      path if flags & 3 != 0 && File.file?(path)
    rescue SystemCallError
      nil
    end
  end

  def run
    watch(Thread.current)
    ORDER["host"] = "127.0.0.1" if ORDER["host"].empty?
    Dir.chdir(ORDER["root"])
    REPORT.puts(JSON.generate(report))
    exit!(0)
  end

  def watch(thread)
    @due = now + ORDER["timeout_s"]
    Thread.new do
      # the parent process ends this one, since only the parent knows whether it could run
      loop do
        sleep(0.1) while now < @due
        @due = now + ANSWER_S
        REPORT.puts("Timeout (!", thread.backtrace.reject { |line| line.start_with?(__FILE__) })
      end
    end
  end

  # Returns the report, perhaps incomplete: an app may call exit while it is loaded.
  def report
    found = { python: nil, django: nil, host: ORDER["host"], loading: [0.0, 0.0], exchanges: [], written: [], imported: [],
              failure: "" }
    begun_s = now
    app = load_app
    found[:exchanges] = exchanges(app) { found[:loading] = [now - begun_s, cpu] }
    found[:written] = written
    found
  rescue Exception => e # rubocop:disable Lint/RescueException
    found.merge(failure: traceback(e))
  end
end

StackraceExaminer.run
