/*
 * Bucket forms of an entry are part of the header of its windows (windows-format.ts), after the length of all of them: per form its
 * length, offset and number of kept buckets, the second up to which waiting slots are folded into it (infinite once all are), the
 * second since which no spec lists it (0 for a listed one), and the ids of the specs that list it. Usage that goes to a slot at or
 * after that second is left to the fold.
 */
export const readForms = `
local formLayout, idLayout = '<dddddB', '<I4c0'
local function formsIn(windows)
  local forms = {}
  local stop = windowsStart(windows)
  local at = windowsAt + 4
  while at < stop do
    local form, idsTotal = { ids = {} }, nil
    form.seconds, form.offset, form.kept, form.filledTo, form.withdrawnAt, idsTotal, at =
      struct.unpack(formLayout, windows, at)
    for i = 1, idsTotal do form.ids[i], at = struct.unpack(idLayout, windows, at) end
    form.name = string.format('%.0f/%.0f/%.0f', form.seconds, form.offset, form.kept)
    forms[#forms + 1] = form
  end
  return forms
end
`

export const rewriteForms = `
-- Returns the header of an entry. flags: 1 if it is published, plus 2 if its publication is unfinished.
local function packHeader(version, flags, forms)
  if #forms == 0 then return struct.pack('<dB', version, flags) end
  local packed = {}
  for _, form in ipairs(forms) do
    packed[#packed + 1] = struct.pack(formLayout, form.seconds, form.offset, form.kept, form.filledTo, form.withdrawnAt, #form.ids)
    for _, id in ipairs(form.ids) do packed[#packed + 1] = struct.pack(idLayout, #id, id) end
  end
  local block = table.concat(packed)
  return struct.pack('<dBI4', version, flags + 4, #block) .. block
end
local function withdrawn(form, now)
  local copy = {}
  for key, value in pairs(form) do copy[key] = value end
  if copy.withdrawnAt == 0 then copy.ids, copy.withdrawnAt = {}, now end
  return copy
end
`

/* Computes the forms of a publication, as the functions of the same names in ../../lmdb/bucket-forms.ts. */
export const publishForms = `
local function byName(forms)
  local named = {}
  for _, form in ipairs(forms) do named[form.name] = form end
  return named
end
local function publishedForms(stored, specs, now)
  local known, listed, forms = byName(stored), byName(specs), {}
  for _, form in ipairs(specs) do
    form.filledTo = known[form.name] and known[form.name].filledTo or firstSlot
    forms[#forms + 1] = form
  end
  for _, form in ipairs(stored) do
    if not listed[form.name] then forms[#forms + 1] = withdrawn(form, now) end
  end
  return forms
end
local function formsMeanwhile(stored, next, now)
  local known, forms = byName(stored), {}
  for i, form in ipairs(next) do
    forms[i] = withdrawn(form, now)
    local before = known[form.name]
    if before then forms[i].ids, forms[i].withdrawnAt = before.ids, before.withdrawnAt end
  end
  return forms
end
`
