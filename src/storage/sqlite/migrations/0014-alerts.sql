-- What an organisation wants to be told of. Nobody has a row before they have set something.
create table alert_settings (
  org_id integer primary key,
  -- JSON: rules with their thresholds, and the weekly report.
  settings text not null,
  -- Counts changes, so that one is decided over what was read.
  revision integer not null,
  -- The Monday, in the organisation's zone, for which the newest weekly report was made.
  reported_for text
) strict;

-- What is wrong, or was: one row from the first sight of it until it is over.
create table alerts (
  id integer primary key,
  org_id integer not null,
  public_id text not null unique,
  rule text not null,
  subject text not null,
  -- pending, open or resolved
  state text not null,
  -- For how many looks in a row it was the other way than its state says.
  streak integer not null,
  -- JSON: what was seen, without anything of a person.
  facts text not null,
  since integer not null,
  opened_at integer,
  resolved_at integer
) strict;
create index alerts_by_org on alerts (org_id, state, rule, subject);

-- Whom to tell. The secret signs what is sent, so it is kept as it is.
create table webhooks (
  id integer primary key,
  org_id integer not null,
  public_id text not null unique,
  url text not null,
  -- JSON array of types; empty for all.
  types text not null,
  secret text not null,
  -- The one before, which signs too until then.
  old_secret text,
  old_secret_until integer,
  created_at integer not null,
  -- Since when nothing has arrived; null where the latest has.
  failing_since integer,
  disabled_at integer,
  disabled_why text
) strict;
create index webhooks_by_org on webhooks (org_id);

-- What is to be sent, or was, for seven days: to a webhook, or by mail.
create table deliveries (
  id integer primary key,
  org_id integer not null,
  public_id text not null unique,
  -- The webhook's public id, or null for mail.
  webhook text,
  mail text,
  type text not null,
  body text not null,
  created_at integer not null,
  -- pending, delivered or failed
  state text not null,
  -- When it is tried next; null where it is not.
  due_at integer,
  attempts integer not null,
  last_at integer,
  last_status integer,
  last_fault text
) strict;
create index deliveries_due on deliveries (due_at) where due_at is not null;
create index deliveries_by_target on deliveries (org_id, webhook, id);
