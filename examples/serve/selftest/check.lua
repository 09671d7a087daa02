-- Script of wrk: asks for classes of images, and checks the status and class of every answer.
--
-- Its one argument is a file of records: a byte with the class, then 784 with the image. wrk does
-- not say which request an answer belongs to, so each thread asks for images of one class only.

local threads = {}

function setup(thread)
    thread:set("number", #threads)
    threads[#threads + 1] = thread
end

function init(args)
    local file = assert(io.open(args[1], "rb"))
    local text = file:read("*a")
    file:close()
    local by_class = {}
    for at = 1, #text, 785 do
        local class = text:byte(at)
        by_class[class] = by_class[class] or {}
        table.insert(by_class[class], text:sub(at + 1, at + 784))
    end
    local classes = {}
    for class in pairs(by_class) do
        table.insert(classes, class)
    end
    table.sort(classes)
    expected = classes[number % #classes + 1]
    images = by_class[expected]
    turn, right, wrong, refused, sample = 0, 0, 0, 0, ""
end

function request()
    turn = turn % #images + 1
    return wrk.format("POST", "/v1/predict", {["Content-Type"] = "application/octet-stream"},
                      images[turn])
end

function response(status, headers, body)
    if status ~= 200 then
        refused = refused + 1
    elseif tonumber(body:match('"class":%s*(%d+)')) == expected then
        right = right + 1
        return
    else
        wrong = wrong + 1
    end
    if sample == "" then
        sample = status .. " " .. body:gsub("%s+", " "):sub(1, 300)
    end
end

function done(summary, latency, requests)
    local right, wrong, refused, sample = 0, 0, 0, ""
    for _, thread in ipairs(threads) do
        right = right + thread:get("right")
        wrong = wrong + thread:get("wrong")
        refused = refused + thread:get("refused")
        sample = sample ~= "" and sample or thread:get("sample")
    end
    local errors = summary.errors
    print(string.format(
        "selftest right=%d wrong=%d refused=%d broken=%d us=%d p50_us=%d p99_us=%d p999_us=%d %s",
        right, wrong, refused, errors.connect + errors.read + errors.write + errors.timeout,
        summary.duration, latency:percentile(50), latency:percentile(99),
        latency:percentile(99.9), sample))
end
