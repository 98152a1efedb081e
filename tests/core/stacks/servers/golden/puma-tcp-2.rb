# Puma: github.com/puma/puma, lib/puma/dsl.rb
bind "tcp://127.0.0.1:9000?backlog=2048"
workers 2
threads 5, 5
preload_app!
silence_single_worker_warning
persistent_timeout 75
directory "/srv/project"
quiet
# No load is left when a stack is stopped
force_shutdown_after 2
raise_exception_on_sigterm false
