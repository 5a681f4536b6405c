-- Which organisation tries flows for which other: from there they are promoted. Each for one at most.
create table staging_links (
  -- The organisation that flows are promoted to.
  org_id integer not null,
  staging_org_id integer primary key,
  linked_at integer not null
) strict;
create index staging_links_by_org on staging_links (org_id);
