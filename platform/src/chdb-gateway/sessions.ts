import { Session, drainPending } from 'chdb'
import { GatewayException, toException } from './exception.ts'
import { readerSettings } from './reader/reader-settings.ts'
import { readerDatabase, requireReadable, type EngineNames } from './reader/require-readable.ts'
import { withRowsFile } from './rows-file.ts'
import {
  isPlainSelect,
  parseInsert,
  placeholderNames,
  type InsertTarget,
  type Statement,
  type StatementResult,
} from './statement.ts'

/**
 * Sessions of the engine, all on one folder. A session runs one statement at a time and keeps its settings,
 * so each statement uses a session alone, in its initial state:
 *
 * - Settings are set before and reset to their default after. If the reset fails, the session is discarded.
 * - The value of a placeholder cannot be removed, so a session that has one never runs a text that names it
 *   without setting it.
 * - Every statement except a plain SELECT or an INSERT with rows (SET, USE, CREATE TEMPORARY, …) gets a new session that is
 *   discarded.
 *
 * Discarding every session would be simpler, but chdb frees no session while any other statement runs (about
 * 140 KB each), so they would accumulate during one long SELECT.
 */
export type EngineSessions = {
  run(statement: Statement): Promise<StatementResult>
  /** Runs a statement of the read-only user. Throws if it would write, or read other databases than those of usage. */
  runAsReader(statement: Statement): Promise<StatementResult>
  /** Call this when no statement is running. */
  close(): Promise<void>
}

type IdleSession = { readonly session: Session; readonly heldParameters: Set<string> }

const idleMax = 8
const heldParametersMax = 64
const settingsWithSideEffects = new Set(['compatibility', 'profile', 'readonly', 'dialect'])

export function openSessions(folder: string): EngineSessions {
  // The engine shuts down with its last session. This one keeps it running between statements.
  const keeper = new Session(folder)
  const idle: IdleSession[] = []

  function take(statement: Statement): IdleSession {
    const named = placeholderNames(statement.text)
    const found = idle.findIndex(
      ({ heldParameters }) =>
        !named.some((name) => heldParameters.has(name) && !statement.parameters.has(name)),
    )
    const [reused] = found < 0 ? [] : idle.splice(found, 1)
    return reused ?? { session: new Session(folder), heldParameters: new Set() }
  }

  async function release(used: IdleSession, statement: Statement): Promise<void> {
    for (const name of statement.parameters.keys()) used.heldParameters.add(name)
    const isReusable =
      idle.length < idleMax &&
      used.heldParameters.size <= heldParametersMax &&
      ![...statement.settings.keys()].some((name) => settingsWithSideEffects.has(name))
    if (isReusable && (await isReset(used.session, statement))) idle.push(used)
    else used.session.close()
  }

  return {
    async run(statement) {
      const insert = statement.rows === undefined ? undefined : insertTarget(statement.text)
      const leavesNothing = insert !== undefined || isPlainSelect(statement.text)
      const used = leavesNothing
        ? take(statement)
        : { session: new Session(folder), heldParameters: new Set<string>() }
      try {
        await prepare(used.session, statement)
        return insert === undefined || statement.rows === undefined
          ? await execute(used.session, statement.text, statement.format)
          : await insertRows(folder, used.session, insert, statement.rows)
      } finally {
        if (leavesNothing) await release(used, statement)
        else used.session.close()
      }
    },
    async runAsReader(statement) {
      const settings = readerSettings(statement.settings)
      const database = readerDatabase(statement.database)
      // `readonly` cannot be changed back, so the session is discarded.
      const session = new Session(folder)
      try {
        const text = await formattedByEngine(session, statement.text)
        requireReadable(text, await readNames(session))
        await prepare(session, { ...statement, settings, database })
        return await execute(session, text, statement.format)
      } finally {
        session.close()
      }
    },
    async close() {
      for (const { session } of idle.splice(0)) session.close()
      keeper.close()
      await drainPending()
    },
  }
}

/**
 * Returns the statement as formatted by the engine's own parser. That text is checked and executed, so no other interpretation of
 * comments, quotes and semicolons matters. The engine refuses more than one statement here.
 */
async function formattedByEngine(session: Session, text: string): Promise<string> {
  if (text.includes('\0')) throw new GatewayException(62, 'SYNTAX_ERROR', 'a NUL byte')
  const question = `SELECT formatQuerySingleLine(${quoteText(text)})`
  try {
    return await readText(session, question)
  } catch (error) {
    const exception = toException(error)
    const [message = ''] = exception.message.split(': In scope SELECT formatQuery')
    throw new GatewayException(exception.code, exception.type, message)
  }
}

async function readNames(session: Session): Promise<EngineNames> {
  const namesIn = async (what: string): Promise<Set<string>> =>
    new Set((await readText(session, `SELECT ${what}`)).split('\n'))
  const databases = await namesIn('name FROM system.databases')
  return { databases, tableFunctions: await namesIn('lower(name) FROM system.table_functions') }
}

async function readText(session: Session, question: string): Promise<string> {
  const { bytes } = await execute(session, question, 'TSVRaw')
  return Buffer.from(bytes).toString('utf8').trimEnd()
}

function insertTarget(text: string): InsertTarget {
  const target = parseInsert(text)
  if (target !== undefined) return target
  throw new GatewayException(
    48,
    'NOT_IMPLEMENTED',
    'rows in a request body need INSERT INTO [database.]table [(columns)] FORMAT name',
  )
}

async function prepare(session: Session, statement: Statement): Promise<void> {
  if (statement.database !== undefined) {
    await session.queryAsync(`USE ${quoteIdentifier(statement.database)}`)
  }
  const assignments = [
    ...[...statement.parameters].map(([name, value]) => `param_${name} = ${quoteText(value)}`),
    ...[...statement.settings].map(([name, value]) => `${name} = ${quoteText(value)}`),
  ]
  if (assignments.length > 0) await session.queryAsync(`SET ${assignments.join(', ')}`)
}

async function isReset(session: Session, statement: Statement): Promise<boolean> {
  const assignments = [...statement.settings.keys()].map((name) => `${name} = DEFAULT`)
  try {
    if (statement.database !== undefined) await session.queryAsync('USE default')
    if (assignments.length > 0) await session.queryAsync(`SET ${assignments.join(', ')}`)
    return true
  } catch {
    return false
  }
}

async function execute(session: Session, text: string, format: string): Promise<StatementResult> {
  const result = await session.queryAsync(text, { format })
  return {
    bytes: result.bytes(),
    readRows: result.rowsRead,
    readBytes: result.bytesRead,
    writtenRows: 0,
    writtenBytes: 0,
    elapsedSeconds: result.elapsed,
  }
}

/** The statement is built from its parsed parts, so that no path in it can come from the request. */
async function insertRows(
  folder: string,
  session: Session,
  { table, columns, format }: InsertTarget,
  rows: Uint8Array,
): Promise<StatementResult> {
  const into = table.split('.').map(quoteIdentifier).join('.')
  const list = columns === undefined ? '' : ` (${columns.map(quoteIdentifier).join(', ')})`
  const result = await withRowsFile(folder, rows, (path) =>
    execute(session, `INSERT INTO ${into}${list} FROM INFILE '${path}' FORMAT ${format}`, 'Null'),
  )
  return { ...result, writtenRows: result.readRows, writtenBytes: result.readBytes }
}

function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function quoteIdentifier(identifier: string): string {
  return `\`${identifier.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
}
