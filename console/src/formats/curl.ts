type Value = string | number | boolean | readonly (string | number)[] | undefined

/** Returns the query as text, in the form in which the console sends it: a list repeats its parameter. */
export function queryText(query: Readonly<Record<string, Value>>): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    const values: readonly Value[] = typeof value === 'object' ? value : [value]
    for (const each of values) if (each !== undefined) text.append(name, String(each))
  }
  return text.toString()
}

/** Returns a command that sends the same request with a secret key. It is quoted for POSIX shells. */
export function curlOf(url: string, body?: unknown): string {
  const authorization = `-H "Authorization: Bearer $SECRET_KEY"`
  if (body === undefined) return `curl ${quoted(url)} ${authorization}`
  const json = quoted(JSON.stringify(body))
  return `curl ${quoted(url)} ${authorization} -H 'Content-Type: application/json' -d ${json}`
}

/** Within single quotes, a shell gives no character a meaning but the quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
