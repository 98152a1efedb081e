# One URL per row of the published comparison. Ids have one spelling each, so that a page is cached under one name.
Rails.application.routes.draw do
  scope format: false, defaults: { format: "html" }, constraints: { id: /[1-9][0-9]{0,8}/ } do
    get "plain", to: "plain#show"
    get "sqlite/:id", to: "sqlite_pages#show"
    get "mysql/:id", to: "mysql_pages#show"
    get "memcached/:id", to: "memcached_pages#show"
    resources :cached_pages, path: "cached", only: %i[index show create update destroy]
  end
end
