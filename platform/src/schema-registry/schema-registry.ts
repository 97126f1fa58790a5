import {
  COMPATIBILITY,
  SchemaRegistry as RegistryClient,
  SchemaType,
} from '@kafkajs/confluent-schema-registry'
import type avro from 'avsc'
import { request } from 'undici'

export type SchemaRegistryConnection = {
  /** Base address of the Confluent-compatible interface. */
  readonly url: string
  readonly auth?: { readonly username: string; readonly password: string }
}

/** The registry does not answer, or refuses. */
export class SchemaRegistryError extends Error {
  override readonly name = 'SchemaRegistryError'
}

export interface SchemaRegistry {
  /** The id of the schema, which is registered under the subject if it is not yet. `withinMs`: 5,000 unless given. */
  idOf(subject: string, schema: string, withinMs?: number): Promise<number>
  /** Undefined when the registry has no schema of that id. */
  find(id: number): Promise<avro.Type | undefined>
  /** All schemas of the subject by their ids. Empty when the registry does not know the subject. */
  versionsOf(subject: string): Promise<ReadonlyMap<number, string>>
}

const answerWithinMs = 5_000

/** A Confluent-compatible registry of Avro schemas. Calls reject with SchemaRegistryError. */
export function createSchemaRegistry(
  connection: SchemaRegistryConnection,
  typeOptions: Partial<avro.ForSchemaOptions>,
): SchemaRegistry {
  const { url, auth } = connection
  const client = new RegistryClient(
    { host: url, ...(auth === undefined ? {} : { auth }) },
    { [SchemaType.AVRO]: typeOptions },
  )
  return {
    idOf: (subject, schema, withinMs) =>
      answered(() => lookUpOrRegister(client, subject, schema), withinMs),
    find: (id) =>
      answered(async () => {
        try {
          return (await client.getSchema(id)) as avro.Type
        } catch (error) {
          if (isMissing(error)) return undefined
          throw error
        }
      }),
    versionsOf: (subject) => answered(() => listVersions(connection, subject)),
  }
}

/** The client asks for schemas by their ids and for the newest version only. */
async function listVersions(
  { url, auth }: SchemaRegistryConnection,
  subject: string,
): Promise<Map<number, string>> {
  const credentials = auth && Buffer.from(`${auth.username}:${auth.password}`).toString('base64')
  const ask = async (path: string): Promise<unknown> => {
    const { statusCode, body } = await request(
      `${url}/subjects/${encodeURIComponent(subject)}/${path}`,
      {
        ...(credentials === undefined
          ? {}
          : { headers: { authorization: `Basic ${credentials}` } }),
        signal: AbortSignal.timeout(answerWithinMs),
      },
    )
    const text = await body.text()
    if (statusCode === 404) return undefined
    if (statusCode !== 200) throw new Error(`status ${statusCode}`)
    return JSON.parse(text)
  }
  const schemas = new Map<number, string>()
  for (const version of ((await ask('versions')) ?? []) as number[]) {
    const found = (await ask(`versions/${version}`)) as { id: number; schema: string } | undefined
    if (found !== undefined) schemas.set(found.id, found.schema)
  }
  return schemas
}

/** Asked first, so that a registry which only its administrators may write needs no more than a look. */
async function lookUpOrRegister(
  client: RegistryClient,
  subject: string,
  schema: string,
): Promise<number> {
  const given = { type: SchemaType.AVRO, schema } as const
  const lookUp = (): Promise<number> => client.getRegistryIdBySchema(subject, given)
  return lookUp().catch(async (error: unknown) => {
    if (!isMissing(error)) throw error
    try {
      // Old releases read what new ones write during a roll-out, and new ones all that the log keeps.
      const compatibility = COMPATIBILITY.FULL_TRANSITIVE
      return (await client.register(given, { subject, compatibility })).id
    } catch (refusal) {
      // Of two who register the first schema at the same time, one may be refused the setting that the other has made.
      return lookUp().catch(() => Promise.reject(refusal as Error))
    }
  })
}

async function answered<Answer>(
  ask: () => Promise<Answer>,
  withinMs = answerWithinMs,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${withinMs} ms`)), withinMs)
  })
  try {
    return await Promise.race([ask(), late])
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SchemaRegistryError(`The schema registry: ${reason}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** The client turns the 404 of one call into an error of its own, and passes on that of the other. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    error.name === 'ConfluentSchemaRegistryError' || ('status' in error && error.status === 404)
  )
}
