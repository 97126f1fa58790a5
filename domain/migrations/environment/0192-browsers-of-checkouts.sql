-- The browser in which a checkout was completed opens the portal afterwards, and no other browser with the same link.
-- Written by: control-plane.

-- The digest of the cookie of the browser that sent a form of the checkout; `several` after a form of another browser,
-- `opened` after the portal was opened; null: no form was sent.
alter table checkout_sessions add column browser_sha256 text;
