-- wrk's script for POST /events: realistic batches, five events a run, every id new, reported as they
-- happen. A request with fewer events than a run goes on with one of many runs that are open at once,
-- as browsers do. Built from pieces made beforehand, so that the load costs less than what it measures.
--
-- Environment: BENCH_KEYS (a file with "key flow step step step" a line), BENCH_BATCH (events a
-- request), BENCH_IDS (v7 or v4), BENCH_NONCE (another one for each load), BENCH_PATH, BENCH_PEOPLE.
local batch = tonumber(os.getenv("BENCH_BATCH") or "50")
local ids = os.getenv("BENCH_IDS") or "v7"
local nonce = tonumber(os.getenv("BENCH_NONCE") or "1")
local path = os.getenv("BENCH_PATH") or "/api/v1/events"
local people = tonumber(os.getenv("BENCH_PEOPLE") or "50000")

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
local tails = {}

-- The ends of events, from the fraction of their second on.
function init()
  math.randomseed(nonce * 1000 + number)
  for i = 0, 999 do
    local fraction = string.format(".%03dZ", math.random(0, 999))
    tails[i] = fraction .. '","url":"https://app.example.com/projects/' .. math.random(1, 900) ..
      '","properties":{"plan":"pro","seats":' .. (i % 50) .. ',"locale":"en-GB"}}'
  end
end

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

-- The end that all UUIDs share: "4abc-8def-0123456789ab" with another version in front.
local function tail() return hex[math.random(0, 4095)]:sub(2) .. "-8" .. hex[math.random(0, 4095)]:sub(2) .. "-" .. quad() .. quad() .. quad() end

local function v4() return quad() .. quad() .. "-" .. quad() .. "-4" .. tail() end

-- RFC 9562, section 5.7: milliseconds first, which go on by one every hundred events.
local time = ""
local function v7()
  if time == "" or count % 100 == 0 then
    local ms = startedAt + floor(count / 100)
    time = hex[floor(ms / 2 ^ 32)] .. hex[floor(ms / 65536) % 65536] .. "-" .. hex[ms % 65536] .. "-7"
  end
  return time .. tail()
end

local id = ids == "v4" and v4 or v7

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

local function newRun()
  run = run + 1
  return {
    org = orgs[(run + number * 37) % #orgs + 1],
    event = 0,
    person = (run % people) .. '","runId":"' .. v4() .. '","sessionId":"' .. v4(),
  }
end

local open, mostOpen = {}, 1000
local parts = {}

function request()
  local slot = batch < 5 and math.random(1, mostOpen) or 1
  local current = open[slot] or newRun()
  local org = current.org
  local begin = between(org)
  local n = 1
  parts[1] = '{"events":['
  for i = 1, batch do
    if current.event == 5 then
      current = newRun()
      current.org = org
    end
    local k = current.event + 1
    current.event = k
    count = count + 1
    parts[n + 1] = i == 1 and '{"id":"' or ',{"id":"'
    parts[n + 2] = id()
    parts[n + 3] = begin[k]
    parts[n + 4] = current.person
    parts[n + 5] = occurredAt(k)
    parts[n + 6] = tails[count % 1000]
    n = n + 6
  end
  -- Of another organisation's turn next.
  open[slot] = current.event < 5 and current or nil
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
