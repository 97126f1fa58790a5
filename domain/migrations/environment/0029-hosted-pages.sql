-- The portal's link opens it once; from then on the browser that opened it is known by a cookie.

alter table customer_sessions
  -- Of what the cookie holds. Null until the link is used.
  add column cookie_sha256 text unique check (cookie_sha256 ~ '^[0-9a-f]{64}$'),
  add column open_until timestamptz,
  add constraint customer_sessions_opened check (
    (status = 'used') = (cookie_sha256 is not null) and (cookie_sha256 is null) = (open_until is null)
  );
