# Puma: github.com/puma/puma, lib/puma/dsl.rb
bind "unix:///srv/next0/socket?umask=0111&backlog=2048"
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
