-- The load, for wrk: batches of new events, or one request again and again. Requests are put together from
-- pieces made beforehand, so that the load costs less than what it measures.
--
-- Environment:
--   BENCH_PAUSE    milliseconds between a response and the next request of its connection
--   BENCH_REQUEST  a file with one whole request; without it, events are sent:
--   BENCH_KEY      the snippet key
--   BENCH_FLOWS    "flow step step step,flow step step step,…"
--   BENCH_BATCH    events in a request
--   BENCH_IDS      v7 (ordered, as Cairn's own clients make them) or v4 (random), for events and runs
--   BENCH_NONCE    differs from load to load, so that no two send the same ids
--   BENCH_OPEN     how many runs are in progress at a time, a power of ten that the batch divides: a request
--                  has the next event of some of them. Without it, a request has whole runs, start to end
--   BENCH_HISTORY  "RUNS FROM SECONDS": so many runs of ten events, which start evenly over so many seconds
--                  from that moment on; then heartbeats, until wrk is stopped
local env, floor, random = os.getenv, math.floor, math.random

local pause = tonumber(env("BENCH_PAUSE") or "0")
if pause > 0 then
  function delay() return pause end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('JSON {"requests":%d,"seconds":%f,"p99Ms":%f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(99) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end

local file = env("BENCH_REQUEST")
if file then
  local text = io.open(file, "rb"):read("*a")
  function request() return text end
  return
end

local key, batch = env("BENCH_KEY"), tonumber(env("BENCH_BATCH"))
local openRuns = tonumber(env("BENCH_OPEN"))
local allRuns, from, duration = (env("BENCH_HISTORY") or ""):match("(%d+) (%d+) (%d+)")
allRuns = tonumber(allRuns)
local people = allRuns and allRuns / 4 or openRuns and 1e9 or 50000

local kinds = { "flow_started", "step_viewed 1", "step_completed 1", "step_viewed 2", "flow_completed" }
if allRuns then
  kinds = { "flow_started", "step_viewed 1", "step_completed 1", "step_viewed 2", "step_completed 2",
    "step_viewed 3", "step_completed 3", 'custom","name":"project_opened', 'custom","name":"project_opened',
    "flow_completed" }
end

-- What stands between an event's id and its person, by flow and by the event's place in its run.
local flows = {}
for flow, steps in env("BENCH_FLOWS"):gmatch("([^, ]+) ([^,]+)") do
  local stepIds, begins = {}, {}
  for step in steps:gmatch("%S+") do stepIds[#stepIds + 1] = step end
  for k, kind in ipairs(kinds) do
    local name, step = kind:match("^(%S+) (%d)$")
    begins[k] = '","kind":"' .. (name or kind) .. '","flowId":"' .. flow .. '",' ..
      (step and '"stepId":"' .. stepIds[tonumber(step)] .. '",' or "") .. '"flowVersion":1,"userId":"user-'
  end
  flows[#flows + 1] = begins
end

local hex = {}
for i = 0, 65535 do hex[i] = string.format("%04x", i) end
local function quad() return hex[random(0, 65535)] end

local function v4()
  return quad() .. quad() .. "-" .. quad() .. "-" .. hex[random(16384, 20479)] .. "-" ..
    hex[random(32768, 36863)] .. "-" .. quad() .. quad() .. quad()
end

-- The halves of run and session ids, and the ends of events from the fraction of their second on.
local heads, ends, tails = {}, {}, {}
function init()
  math.randomseed(tonumber(env("BENCH_NONCE")))
  for i = 0, 4098 do
    local uuid = v4()
    heads[i], ends[i] = uuid:sub(1, 18), uuid:sub(19)
  end
  for i = 0, 999 do
    tails[i] = string.format('.%03dZ","url":"https://app.example.com/projects/%d","properties":' ..
      '{"plan":"pro","seats":%d,"locale":"en-GB"}}', random(0, 999), random(1, 900), i % 50)
  end
end

-- RFC 9562, section 5.7: the time, a counter, and what is random; in three pieces.
local count, time, startedAt = 0, "", os.time() * 1000
local function v7()
  if time == "" or count % 100 == 0 then
    local ms = startedAt + floor(count / 100)
    time = hex[floor(ms / 2 ^ 32)] .. hex[floor(ms / 65536) % 65536] .. "-" .. hex[ms % 65536] .. "-"
  end
  return time, hex[28672 + count % 4096], ends[random(0, 4098)]
end
local id = env("BENCH_IDS") == "v4" and function() return v4(), "", "" end or v7

-- The first half of a run's id, which is ordered or random as those of events are.
local areRandom = env("BENCH_IDS") == "v4"
local function runHead(its)
  if areRandom then return heads[its % 4093] end
  local ms = startedAt + floor(its / 20)
  return hex[floor(ms / 2 ^ 32)] .. hex[floor(ms / 65536) % 65536] .. "-" .. hex[ms % 65536] .. "-" ..
    hex[28672 + its % 4096]
end

local run = 0
local function nextOfWholeRuns()
  if count % #kinds == 0 then run = run + 1 end
  return run, count % #kinds + 1
end

-- Each open run once, then all of them in another order: a stride without a factor of ten reaches all. Runs
-- are numbers in two tables, for a collector would have to walk through a hundred thousand objects.
local runs, places, slot, stride, visited = {}, {}, 1, 1, 0
local function nextOfOpenRuns()
  if visited == openRuns then visited, stride = 0, 10 * random(0, openRuns / 10 - 1) + 1 end
  visited = visited + 1
  slot = (slot + stride) % openRuns
  if not runs[slot] or places[slot] == #kinds then
    -- The load begins in the middle of a day: its first runs are already in progress.
    places[slot] = runs[slot] and 0 or slot % #kinds
    run = run + 1
    runs[slot] = run
  end
  places[slot] = places[slot] + 1
  return runs[slot], places[slot]
end
local nextEvent = openRuns and nextOfOpenRuns or nextOfWholeRuns

-- To the second. Events of whole runs are ten seconds apart, and the last one happened just now.
local now, seconds = 0, {}
local function occurredAt(its, k)
  if allRuns then return os.date("!%Y-%m-%dT%H:%M:%S", from + floor(duration * its / allRuns) + 7 * k) end
  if now ~= os.time() then
    now = os.time()
    for i = 1, #kinds do
      seconds[i] = os.date("!%Y-%m-%dT%H:%M:%S", now - 1 - (openRuns and 0 or 10 * (#kinds - i)))
    end
  end
  return seconds[k]
end

local head = "Host: bench\r\nAuthorization: Bearer " .. key .. "\r\n"
local heartbeat = "GET /api/v1/heartbeat HTTP/1.1\r\n" .. head .. "\r\n"
-- wrk looks at the first request without sending it, so that is none of a history.
local isFirst = true
local parts = {}
function request()
  local isOver = allRuns and count == allRuns * #kinds
  if isOver or allRuns and isFirst then
    isFirst = false
    return heartbeat
  end
  local n = 0
  for i = 1, batch do
    local its, k = nextEvent()
    count = count + 1
    -- Both divisors are prime, so that the halves tell sixteen million sessions apart.
    local first, rest = its % 4093, its % 4099
    parts[n + 1] = i == 1 and '{"events":[{"id":"' or ',{"id":"'
    parts[n + 2], parts[n + 3], parts[n + 4] = id()
    parts[n + 5] = flows[its % #flows + 1][k]
    parts[n + 6] = its % people
    parts[n + 7] = '","runId":"'
    parts[n + 8] = runHead(its)
    parts[n + 9] = ends[rest]
    parts[n + 10] = '","sessionId":"'
    parts[n + 11] = heads[4092 - first]
    parts[n + 12] = ends[rest]
    parts[n + 13] = '","occurredAt":"' .. occurredAt(its, k)
    parts[n + 14] = tails[count % 1000]
    n = n + 14
  end
  parts[n + 1] = "]}"
  local body = table.concat(parts, "", 1, n + 1)
  return "POST /api/v1/events HTTP/1.1\r\n" .. head .. "Content-Type: application/json\r\nContent-Length: " ..
    #body .. "\r\n\r\n" .. body
end
