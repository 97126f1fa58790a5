import { STATUS_CODES } from 'node:http'
import { errorCodes } from '@tollgate/schemas/http/error-codes'

const head = `# Errors

Every error of the API is JSON with these fields; some errors have more.

| Field | Meaning |
| --- | --- |
| \`statusCode\` | The HTTP status |
| \`error\` | The reason phrase of the status |
| \`message\` | A sentence for people: what is wrong, and what to do |
| \`code\` | A stable code from the table below; match this one in programs |
| \`requestId\` | The name of the request, also in the header \`X-Request-Id\` of every response |

A client may name a request itself with \`X-Request-Id\`: 1 to 128 characters of \`A-Z a-z 0-9 . _ : ~ + / = @ -\`. Any other name
is replaced. The logs and traces of Tollgate have the name.

A request that breaks its schema also has \`errors\`: for each violation its \`path\`, a \`message\` and, for types, \`expected\` and
\`received\`.

## Unknown names

An unknown field of the body, or an unknown parameter of the query, is ignored. The response names the first 5 of them, with the
nearest known name, in the header \`Tollgate-Warnings\` (a list as in RFC 9651; other than plain ASCII is percent-encoded):

\`\`\`
Tollgate-Warnings: unknown_field;name="unit";nearest="units"
\`\`\`

With the header \`Tollgate-Strict: true\`, or with a key that was created with \`strict: true\` (\`npm run tollgate -- key create --strict\`),
the request is refused instead: 400 with the code \`unknown_field\` or \`unknown_parameter\`.

The same header names tools of an MCP server that are open to more customers than a provider may expect, as
\`default_plan_opens_tool;name="report"\`. The field \`warnings\` of that response explains each in words ([Plans of tools](mcp.md#plans-of-tools)).
A strict request is not refused for it.

## Codes
`

/** Returns the text of `docs/errors.md`, generated from the table of error codes. */
export function errorsPage(): string {
  const statuses = [...new Set(Object.values(errorCodes).flatMap(({ statuses }) => statuses))]
  const sections = statuses.sort((one, other) => one - other).flatMap(sectionLines)
  return [head, ...sections, ''].join('\n')
}

function sectionLines(status: number): string[] {
  const rows = Object.entries(errorCodes)
    .filter(([, { statuses }]) => statuses.includes(status))
    .map(([code, { meaning, action }]) => `| \`${code}\` | ${meaning} | ${action} |`)
  const title = `### ${status} ${STATUS_CODES[status] ?? ''}`
  return ['', title, '', '| Code | Meaning | What to do |', '| --- | --- | --- |', ...rows]
}
