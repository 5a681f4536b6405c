-- Whether calls that name a user must prove it by a hash: not at all, only counted, or refused else.
alter table organisations add column identity_mode text not null default 'off'
  check (identity_mode in ('off', 'observe', 'enforce'));

-- What the hashes are made with: HMACs need the secret itself, so it stands here as it is.
create table identity_secrets (
  id integer primary key,
  org_id integer not null,
  secret text not null,
  created_at integer not null,
  -- Null for the current one, else when the one before it stops working.
  retired_at integer
) strict;
create index identity_secrets_by_org on identity_secrets (org_id);

-- What became of the hashes by hour: counts only.
create table identity_counts (
  org_id integer not null,
  hour integer not null,
  verdict text not null,
  count integer not null,
  primary key (org_id, hour, verdict)
) strict, without rowid;
