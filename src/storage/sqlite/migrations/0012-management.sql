-- Tokens by which programs manage an organisation: of each the hash alone, so that who reads this has none.
create table management_tokens (
  id integer primary key,
  public_id text not null unique,
  org_id integer not null,
  name text not null,
  sha256 text not null unique,
  -- A JSON array of what it may do.
  scopes text not null,
  created_at integer not null,
  expires_at integer not null,
  -- To the minute; null for one that was never used.
  last_used_at integer,
  revoked_at integer
) strict;
create index management_tokens_by_org on management_tokens (org_id);

-- Who changed what, written in the transaction of the change.
create table audit_log (
  id integer primary key,
  org_id integer not null,
  at integer not null,
  via text not null,
  actor text not null,
  request_id text,
  action text not null,
  subject text not null,
  -- JSON; null where there was nothing before, or is nothing after.
  before text,
  after text,
  note text
) strict;
create index audit_log_by_org on audit_log (org_id, id);
create index audit_log_by_subject on audit_log (org_id, subject, id);

-- The newest change of an organisation is its revision.
create index catalogue_changes_by_org on catalogue_changes (org_id, seq);

-- Retries are operations of the storage thread now.
drop table dead_letter_retries;
