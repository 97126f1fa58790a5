import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { knownVariables, readAsProgram } from './service-settings.ts'

const folder = fileURLToPath(new URL('../kubernetes', import.meta.url))
const chart = join(folder, 'tollgate')
const read = (path: string): string => readFileSync(join(chart, path), 'utf8')

describe('the chart', () => {
  const validate = new Ajv({ strict: false }).compile(
    JSON.parse(read('values.schema.json')) as Record<string, unknown>,
  )
  const defaults = parse(read('values.yaml')) as Record<string, unknown>

  it.each(readdirSync(join(chart, 'ci')))('has a schema that accepts ci/%s', (file) => {
    const values = parse(read(`ci/${file}`)) as object
    validate(values)
    expect(validate.errors).toBeNull()
  })

  it('describes every value with a default, and requires those without', () => {
    validate(defaults)
    expect(validate.errors?.map(({ instancePath }) => instancePath)).toEqual(['/existingSecret'])
    expect(validate({ ...defaults, misspelt: 1 })).toBe(false)
  })

  const templates = readdirSync(join(chart, 'templates')).map((file) => read(`templates/${file}`))
  const set = new Set(templates.join('\n').match(/\b(TOLLGATE|OTEL)_\w+/g))

  it('sets only variables that a service reads', () => {
    expect(set.size).toBeGreaterThan(10)
    expect([...set].filter((variable) => !knownVariables.has(variable))).toEqual([])
  })

  it('passes secrets only by reference', () => {
    const helpers = read('templates/_helpers.tpl')
    const secrets = [...set].filter((variable) =>
      /_(SECRET|SECRETS|SECRET_KEY|SECRET_KEYS|PASSWORD|TOKEN|SMTP_URL|CLIENT_ID)$/.test(variable),
    )
    expect(secrets.length).toBeGreaterThan(10)
    for (const variable of secrets) {
      const reference = new RegExp(
        `- name: ${variable}\\n +valueFrom:\\n +secretKeyRef: \\{ name: \\{\\{ \\$secret \\}\\}, key: [\\w-]+`,
      )
      expect(helpers, variable).toMatch(reference)
      expect(helpers, variable).not.toContain(`"${variable}"`)
    }
  })

  it('can pass every setting that Compose passes', () => {
    const compose = readFileSync(join(folder, '../compose.yaml'), 'utf8')
    const told = compose.match(/^ +(TOLLGATE|OTEL)_\w+(?=:)/gm)?.map((line) => line.trim()) ?? []
    expect(told.length).toBeGreaterThan(10)
    expect(told.filter((variable) => !set.has(variable))).toEqual([])
  })
})

type Deployment = {
  readonly kind: string
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly args: readonly [string]
          readonly env: readonly {
            readonly name: string
            readonly value?: string
            readonly valueFrom?: { readonly secretKeyRef: { readonly optional?: boolean } }
          }[]
        }[]
      }
    }
  }
}

describe.skipIf(spawnSync('helm', ['version']).status !== 0)(
  'the rendered chart (helm on the PATH)',
  () => {
    it('passes helm lint', () => {
      expect(execFileSync(join(folder, 'check.sh'), ['--offline'], { encoding: 'utf8' })).toContain(
        'in order',
      )
    })

    it.each(['least', 'everything'])(
      'passes each service its required settings: ci/%s.yaml',
      (values) => {
        const rendered = execFileSync(
          'helm',
          [
            'template',
            't',
            chart,
            '--kube-version',
            '1.34.0',
            '--values',
            join(chart, `ci/${values}.yaml`),
          ],
          { encoding: 'utf8' },
        )
        const deployments = parseAllDocuments(rendered)
          .map((document) => document.toJS() as Deployment | null)
          .filter((each) => each?.kind === 'Deployment')
        expect(deployments).toHaveLength(7)
        for (const deployment of deployments) {
          const [container] = deployment!.spec.template.spec.containers
          const given = container!.env
            .filter(({ valueFrom }) => valueFrom?.secretKeyRef.optional !== true)
            .map(({ name, value = 'secret'.repeat(6) }) => [name, value])
          readAsProgram(container!.args[0], Object.fromEntries(given) as Record<string, string>)
        }
      },
    )
  },
)
