import { firstExample, type Parameter, type PlacedOperation } from './description-document.ts'

export type CodeSample = { readonly language: string; readonly code: string }

/** Optional parameters that a sample sends nevertheless, because the API returns 400 if none is sent. */
const sentParameters: Readonly<Record<string, readonly string[]>> = {
  findCustomer: ['externalRef'],
}

/**
 * Names of environment variables in samples. None begins with TOLLGATE_, because `npm start` refuses unknown settings with that
 * prefix.
 */
const variables: Readonly<Record<string, string>> = {
  secretKey: 'SECRET_KEY',
  accessToken: 'ACCESS_TOKEN',
  pollToken: 'POLL_TOKEN',
}

/** The contents of one request, with example values. */
type SampleRequest = {
  readonly method: string
  readonly url: string
  /** Name of the environment variable that holds the bearer token. */
  readonly variable: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
  /** Name of the file that is the body. */
  readonly file: string | undefined
  /** Name of the file to which the response is saved, if the response is not JSON. */
  readonly responseFile: string | undefined
}

/** Returns the same request with curl, in TypeScript and in Python. `address` is the address of the installation. */
export function codeSamples(placed: PlacedOperation, address: string): readonly CodeSample[] {
  const request = sampleRequest(placed, address)
  return [
    { language: 'curl', code: curlSample(request) },
    { language: 'TypeScript', code: typescriptSample(request) },
    { language: 'Python', code: pythonSample(request) },
  ]
}

function sampleRequest(
  { method, path, operation }: PlacedOperation,
  address: string,
): SampleRequest {
  const parameters = operation.parameters ?? []
  const isSent = (parameter: Parameter): boolean =>
    parameter.required === true ||
    parameter.name === 'Idempotency-Key' ||
    sentParameters[operation.operationId]?.includes(parameter.name) === true
  const sent = (place: Parameter['in']): [string, string][] =>
    parameters
      .filter((parameter) => parameter.in === place && isSent(parameter))
      .map((parameter) => [parameter.name, exampleText(parameter)])
  const filled = sent('path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  )
  const query = new URLSearchParams(sent('query')).toString()
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const json = type === 'application/json' ? firstExample(media) : undefined
  const file = type === undefined || type === 'application/json' ? undefined : fileNameOf(type)
  return {
    method: method.toUpperCase(),
    url: `${address}${filled}${query === '' ? '' : `?${query}`}`,
    variable: operation.security
      ?.flatMap((each) => Object.keys(each))
      .map((name) => variables[name])[0],
    headers: {
      ...Object.fromEntries(sent('header')),
      ...(type !== undefined && (json !== undefined || file !== undefined)
        ? { 'Content-Type': type }
        : {}),
    },
    json,
    file,
    responseFile: responseFileOf(operation),
  }
}

function exampleText({ example, schema }: Parameter): string {
  const value = example ?? schema.examples?.[0] ?? schema.default ?? ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function responseFileOf({ responses }: PlacedOperation['operation']): string | undefined {
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const content = answer !== undefined && 'content' in answer ? answer.content : undefined
  const [type] = Object.keys(content ?? {})
  return type === undefined || type === 'application/json' ? undefined : fileNameOf(type)
}

function fileNameOf(type: string): string {
  return type === 'application/pdf' ? 'invoice.pdf' : `picture.${type.split('/').at(-1) ?? ''}`
}

function curlSample({
  method,
  url,
  variable,
  headers,
  json,
  file,
  responseFile,
}: SampleRequest): string {
  const parts = [
    `curl ${responseFile === undefined ? '' : '-f '}${method === 'GET' ? '' : `-X ${method} `}${shellQuoted(url)}`,
    ...(variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(json === undefined ? [] : [`-d ${shellQuoted(JSON.stringify(json, null, 2))}`]),
    ...(file === undefined ? [] : [`--data-binary @${file}`]),
    ...(responseFile === undefined ? [] : [`-o ${responseFile}`]),
  ]
  return parts.join(' \\\n  ')
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function typescriptSample(request: SampleRequest): string {
  const { method, url, variable, headers, json, file, responseFile } = request
  const quoted = (text: string): string =>
    `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = [
    ...(variable === undefined ? [] : [`Authorization: \`Bearer \${process.env.${variable}}\`,`]),
    ...Object.entries(headers).map(([name, value]) => `${quoted(name)}: ${quoted(value)},`),
  ]
  const body =
    json !== undefined
      ? [`  body: JSON.stringify(${indented(JSON.stringify(json, null, 2), '  ')}),`]
      : file !== undefined
        ? [`  body: await readFile(${quoted(file)}),`]
        : []
  const imports = [
    ...(file === undefined ? [] : ['readFile']),
    ...(responseFile === undefined ? [] : ['writeFile']),
  ]
  return [
    ...(imports.length === 0
      ? []
      : [`import { ${imports.join(', ')} } from 'node:fs/promises'`, '']),
    `const response = await fetch(${quoted(url)}, {`,
    `  method: '${method}',`,
    ...(lines.length === 0 ? [] : ['  headers: {', ...lines.map((line) => `    ${line}`), '  },']),
    ...body,
    '})',
    ...(responseFile === undefined
      ? ['console.log(response.status, await response.json())']
      : [
          'if (!response.ok) throw new Error(await response.text())',
          `await writeFile(${quoted(responseFile)}, new Uint8Array(await response.arrayBuffer()))`,
        ]),
  ].join('\n')
}

function pythonSample(request: SampleRequest): string {
  const { method, url, variable, headers, json, file, responseFile } = request
  const lines = [
    ...(variable === undefined ? [] : [`"Authorization": f"Bearer {os.environ['${variable}']}",`]),
    ...Object.entries(headers)
      .filter(([name, value]) => name !== 'Content-Type' || value !== 'application/json')
      .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`),
  ]
  return [
    ...(variable === undefined ? [] : ['import os', '']),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    ${JSON.stringify(url)},`,
    ...(lines.length === 0
      ? []
      : ['    headers={', ...lines.map((line) => `        ${line}`), '    },']),
    ...(json === undefined ? [] : [`    json=${indented(pythonLiteral(json, ''), '    ')},`]),
    ...(file === undefined ? [] : [`    data=open(${JSON.stringify(file)}, "rb"),`]),
    ')',
    ...(responseFile === undefined
      ? ['print(response.status_code, response.json())']
      : [
          'response.raise_for_status()',
          `open(${JSON.stringify(responseFile)}, "wb").write(response.content)`,
        ]),
  ].join('\n')
}

function pythonLiteral(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const entries: string[] = Array.isArray(value)
    ? value.map((each: unknown) => pythonLiteral(each, inner))
    : Object.entries(value).map(
        ([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each, inner)}`,
      )
  if (entries.length === 0) return `${open}${close}`
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${close}`
}

function indented(text: string, indent: string): string {
  return text.replaceAll('\n', `\n${indent}`)
}
