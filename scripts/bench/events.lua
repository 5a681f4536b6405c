-- wrk's script for POST /events: realistic batches, five events a run, every id new, reported as they
-- happen. A request with fewer events than a run goes on with one of many runs that are open at once,
-- as browsers do. With BENCH_OPEN, one organisation's back end forwards what many people do: so many
-- runs are open at once, and a request holds the next event of some of them, never two of one run.
-- Built from pieces made beforehand, so that the load costs less than what it measures.
--
-- Environment: BENCH_KEYS (a file with "key flow step step step" a line), BENCH_BATCH (events a
-- request), BENCH_IDS (v7 or v4), BENCH_NONCE (another one for each load), BENCH_PATH, BENCH_PEOPLE,
-- BENCH_OPEN (a power of ten that the batch divides; then the file's lines are flows of one key).
local batch = tonumber(os.getenv("BENCH_BATCH") or "50")
local ids = os.getenv("BENCH_IDS") or "v7"
local nonce = tonumber(os.getenv("BENCH_NONCE") or "1")
local path = os.getenv("BENCH_PATH") or "/api/v1/events"
local people = tonumber(os.getenv("BENCH_PEOPLE") or "50000")
local mostOpen = tonumber(os.getenv("BENCH_OPEN"))

local orgs = {}
for line in io.lines(os.getenv("BENCH_KEYS")) do
  local org = {}
  for word in line:gmatch("%S+") do org[#org + 1] = word end
  orgs[#orgs + 1] = org
end

local threads = 0
function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

-- Four hexadecimal digits for every number below 65,536.
local hex = {}
for i = 0, 65535 do hex[i] = string.format("%04x", i) end
local function quad() return hex[math.random(0, 65535)] end

local floor = math.floor
local count, run = 0, 0
local startedAt = os.time() * 1000

-- The second in which the k-th event of a run occurred. The fifth was just now, for a time to come would
-- be corrected; the others before it, where they are reported together.
local now, seconds = 0, {}
local function occurredAt(k)
  if now ~= os.time() then
    now = os.time()
    for i = 1, 5 do
      local ago = batch < 5 and 1 or 1 + (5 - i) * 10
      seconds[i] = '","occurredAt":"' .. os.date("!%Y-%m-%dT%H:%M:%S", now - ago)
    end
  end
  return seconds[k]
end

local function v4()
  return quad() .. quad() .. "-" .. quad() .. "-" .. hex[math.random(16384, 20479)] .. "-" ..
    hex[math.random(32768, 36863)] .. "-" .. quad() .. quad() .. quad()
end

-- RFC 9562, section 5.7: milliseconds first, which go on by one every hundred events; a counter, which
-- tells those hundred apart; and what is random. Three pieces, none of which has to be made for one event.
local time = ""
local heads, ends = {}, {}
local function v7()
  if time == "" or count % 100 == 0 then
    local ms = startedAt + floor(count / 100)
    time = hex[floor(ms / 2 ^ 32)] .. hex[floor(ms / 65536) % 65536] .. "-" .. hex[ms % 65536] .. "-"
  end
  return time, hex[28672 + count % 4096], ends[math.random(0, 4098)]
end

local id = ids == "v4" and function() return v4(), "", "" end or v7

local kinds = { "flow_started", "step_viewed", "step_completed", "step_viewed", "flow_completed" }
local begins = {}

-- What stands between an event's id and its person, for each organisation and place in a run.
local function between(org)
  local made = begins[org]
  if made then return made end
  made = {}
  for k, kind in ipairs(kinds) do
    local step = (k == 2 or k == 3) and org[3] or k == 4 and org[4]
    made[k] = '","kind":"' .. kind .. '","flowId":"' .. org[2] .. '",' ..
      (step and '"stepId":"' .. step .. '",' or "") .. '"flowVersion":1,"userId":"user-'
  end
  begins[org] = made
  return made
end

-- Whole runs, one after the other; or, where a request has room for less, the next events of one of a
-- thousand that are open. The event's flow, its run's number, and its place in the run.
local open, slot = {}, 1
local function ofOneRun(i)
  if i == 1 and batch < 5 then slot = math.random(1, 1000) end
  local current = open[slot]
  if not current or current.event == 5 then
    run = run + 1
    -- All of a request are one organisation's; the next is of another one's turn.
    local org = i > 1 and current.org or orgs[(run + number * 37) % #orgs + 1]
    current = { org = org, run = run, event = 0 }
    open[slot] = current
  end
  current.event = current.event + 1
  return current.org, current.run, current.event
end

-- The same of another run each time, until each that is open has had its turn; then all of them in another
-- order: a stride that has no divisor in common with a power of ten goes through them. Numbers only, for
-- a collector that had to walk through a hundred thousand tables would take the time of what is measured.
local runOf, sentOf = {}, {}
local stride, visited = 1, 0
local function ofManyRuns()
  if visited == mostOpen then
    visited, stride = 0, 10 * math.random(0, mostOpen / 10 - 1) + 1
  end
  visited = visited + 1
  slot = (slot + stride) % mostOpen
  local its, k = runOf[slot], (sentOf[slot] or 0) + 1
  if not its or k > 5 then
    -- Those that are open at first are not all at their first event: a load begins in the middle of a day.
    k = its and 1 or slot % 5 + 1
    run = run + 1
    its = run
    runOf[slot] = its
  end
  sentOf[slot] = k
  return orgs[its % #orgs + 1], its, k
end

local tails = {}

function init()
  math.randomseed(nonce * 1000 + number)
  -- The ends of events, from the fraction of their second on.
  for i = 0, 999 do
    local fraction = string.format(".%03dZ", math.random(0, 999))
    tails[i] = fraction .. '","url":"https://app.example.com/projects/' .. math.random(1, 900) ..
      '","properties":{"plan":"pro","seats":' .. (i % 50) .. ',"locale":"en-GB"}}'
  end
  -- The halves of runs' and sessions' ids.
  for i = 0, 4098 do
    local uuid = v4()
    heads[i], ends[i] = uuid:sub(1, 18), uuid:sub(19)
  end
end

local nextEvent = mostOpen and ofManyRuns or ofOneRun
local parts = {}

function request()
  local org, its, k
  local n = 1
  parts[1] = '{"events":['
  for i = 1, batch do
    org, its, k = nextEvent(i)
    count = count + 1
    -- Both are prime, so that the halves tell some sixteen million runs apart.
    local head, rest = its % 4093, its % 4099
    parts[n + 1] = i == 1 and '{"id":"' or ',{"id":"'
    parts[n + 2], parts[n + 3], parts[n + 4] = id()
    parts[n + 5] = between(org)[k]
    parts[n + 6] = its % people
    parts[n + 7] = '","runId":"'
    parts[n + 8] = heads[head]
    parts[n + 9] = ends[rest]
    parts[n + 10] = '","sessionId":"'
    parts[n + 11] = heads[4092 - head]
    parts[n + 12] = ends[rest]
    parts[n + 13] = occurredAt(mostOpen and 5 or k)
    parts[n + 14] = tails[count % 1000]
    n = n + 14
  end
  parts[n + 1] = "]}"
  local body = table.concat(parts, "", 1, n + 1)
  return "POST " .. path .. " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " .. org[1] ..
    "\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('JSON {"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"maxMs":%f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
