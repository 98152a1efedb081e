# Varnish: varnish-cache.org/docs/7.1/reference/vcl.html and vmod_directors
vcl 4.1;

import directors;

backend app0 {
    .path = "/srv/next0/socket";
    .first_byte_timeout = 300s;
    .between_bytes_timeout = 300s;
}

backend app1 {
    .path = "/srv/next1/socket";
    .first_byte_timeout = 300s;
    .between_bytes_timeout = 300s;
}

sub vcl_init {
    new app = directors.round_robin();
    app.add_backend(app0);
    app.add_backend(app1);
}

sub vcl_recv {
    set req.backend_hint = app.backend();
    return (pass);
}
