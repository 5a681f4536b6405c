-- Who is signed in to the dashboard: of each cookie the hash alone, so that who reads this has none.
create table dashboard_sessions (
  id integer primary key,
  org_id integer not null,
  sha256 text not null unique,
  role text not null,
  name text not null,
  -- Who it is at the identity provider, and the session there; null where there is none.
  subject text,
  issuer text,
  sid text,
  created_at integer not null,
  -- To the minute.
  last_seen_at integer not null,
  ends_at integer not null
) strict;
create index dashboard_sessions_by_org on dashboard_sessions (org_id);

-- Links by which the operator lets somebody in, once: of each code the hash alone.
create table dashboard_links (
  id integer primary key,
  org_id integer not null,
  sha256 text not null unique,
  role text not null,
  name text not null,
  expires_at integer not null
) strict;
create index dashboard_links_by_org on dashboard_links (org_id);
