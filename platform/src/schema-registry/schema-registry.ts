import {
  COMPATIBILITY,
  SchemaRegistry as RegistryClient,
  SchemaType,
} from '@kafkajs/confluent-schema-registry'
import type avro from 'avsc'
import { request } from 'undici'

export type SchemaRegistryConnection = {
  /** Base URL of the Confluent-compatible API. */
  readonly url: string
  readonly auth?: { readonly username: string; readonly password: string }
}

/** The registry does not answer, or refuses a request. */
export class SchemaRegistryError extends Error {
  override readonly name = 'SchemaRegistryError'
}

export interface SchemaRegistry {
  /**
   * Returns the id of the schema, and registers it under the subject if it is new. `withinMs` is the timeout in milliseconds, 5,000
   * by default.
   */
  idOf(subject: string, schema: string, withinMs?: number): Promise<number>
  /** Returns the schema with that id, or undefined. */
  find(id: number): Promise<avro.Type | undefined>
  /** Returns all schemas of the subject by their ids. Empty if the registry does not know the subject. */
  versionsOf(subject: string): Promise<ReadonlyMap<number, string>>
}

const answerWithinMs = 5_000

/** Creates a client of a Confluent-compatible registry of Avro schemas. Its calls reject with a SchemaRegistryError. */
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

/** Lists versions over HTTP, because the client can only request a schema by id, or the latest version. */
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

/** Looks the schema up before registering it, so that read access suffices if an administrator has registered it. */
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
      // Old releases read records of new ones during a rollout, and new releases read all that the log retains.
      const compatibility = COMPATIBILITY.FULL_TRANSITIVE
      return (await client.register(given, { subject, compatibility })).id
    } catch (refusal) {
      // If two processes register the first schema at the same time, one may be refused although the schema is now registered.
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

/** Returns whether the registry answered 404. The client reports it in two different ways. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    error.name === 'ConfluentSchemaRegistryError' || ('status' in error && error.status === 404)
  )
}
