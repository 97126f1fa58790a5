import { jobActor } from '@tollgate/domain/audit/actor'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { originAuthPlace } from '@tollgate/domain/catalog/mcp-servers-repository'
import { secretKeyFile } from '@tollgate/platform/secrets/key-file'
import { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { parseSecretKeys, type SecretKey } from '@tollgate/platform/secrets/secret-keys'
import { environments } from '@tollgate/schemas/environment'
import { sealedColumns } from '@tollgate/schemas/sealed-columns'
import { createCommandLine } from '@tollgate/platform/cli/command-line'
import { addManagementCommands } from '../src/cli/program.ts'
import { McpStack } from './mcp-stack.ts'

let mcp: McpStack

beforeAll(async () => {
  mcp = await McpStack.start()
})

afterAll(() => mcp.stop())

test('opens every secret with only the newest key after a rotation', async () => {
  const tools = { tools: [] }
  const secrets = ['first-secret', 'second-secret']
  for (const authApiKey of secrets) {
    expect((await mcp.bootstrap({ authApiKey, ...tools })).status).toBe(201)
  }
  await mcp.bootstrap(tools)
  const [older] = parseSecretKeys(await readFile(secretKeyFile(mcp.stack.folder), 'utf8'))!
  const newest: SecretKey = { id: 'newest', bytes: Buffer.alloc(32, 7) }
  const rotate = async (): Promise<string> => {
    const lines: string[] = []
    const { program, output } = createCommandLine('tollgate', (line) => lines.push(line))
    addManagementCommands(program, (run) =>
      run({
        database: mcp.stack.database,
        hotState: mcp.stack.hotState,
        actorOf: () => jobActor('test'),
        now: () => new Date(),
        output,
        openSecrets: () => Promise.resolve(new SecretBox([newest, older])),
        hostedUrl: '',
        passwordLinkMs: 0,
      }),
    )
    await program.parseAsync(['secrets', 'rotate'], { from: 'user' })
    return lines.join()
  }
  expect(await rotate()).toContain('Encrypted 2 secrets with the newest key')
  expect(await rotate()).toContain('Encrypted 0 secrets with the newest key')

  const rows = await mcp.stack.database.in('sandbox')<{ auth_key: string }[]>`
    select auth_key from mcp_servers where auth_key is not null order by created_at`
  const box = new SecretBox([newest])
  const place = originAuthPlace(mcp.tenant.providerId)
  expect(rows.map((row) => box.open(row.auth_key, place))).toEqual(
    secrets.map((secret) => `Bearer ${secret}`),
  )
})

test('rotates every column with sealed values, under the key by which it is found', async () => {
  for (const { schema, table, id, column } of sealedColumns) {
    const schemas = schema === 'environment' ? environments : [schema]
    for (const name of schemas) {
      const columns = await mcp.stack.database.control<{ column_name: string }[]>`
        select column_name from information_schema.columns
        where table_schema = ${name} and table_name = ${table}
          and column_name in ('provider_id', ${id}, ${column})`
      // A table with one row per provider is found by the provider.
      const { size } = new Set(['provider_id', id, column])
      expect([table, columns.length]).toEqual([table, size])
    }
  }
})
