import { environments } from '@tollgate/schemas/environment'
import { GatewayException } from '../exception.ts'

/** The databases whose tables docs/data-team.md describes. */
const readableDatabases = new Set<string>(environments)

/** System tables that tools read to list tables and columns. */
const readableSystemTables = new Set(['columns', 'databases', 'numbers', 'one', 'tables'])

/** Table functions that read nothing but their arguments. */
const harmlessTableFunctions = new Set([
  'format',
  'generate_series',
  'generateseries',
  'null',
  'numbers',
  'numbers_mt',
  'values',
  'zeros',
  'zeros_mt',
])

/** Functions, in addition to table functions, that access something outside of the engine, or read a table whose name is text. */
const outsideFunctions =
  /^(ai[_a-z]+|catboostevaluate|python|joinget(ornull)?|hascolumnintable|dict\w+)$/

/** The engine formats a SELECT that is part of INTERSECT or EXCEPT in parentheses. */
const readingStatements =
  /^(\(*(SELECT|WITH)|DESCRIBE TABLE|EXISTS (TABLE|DATABASE)|SHOW (TABLES|DATABASES|COLUMNS|INDEXES|CREATE TABLE)|EXPLAIN( [A-Z]+)?( [a-z_]+ = \d,?)* \(*(SELECT|WITH))\b/

/** Names that exist in the engine, which decide how a name in a statement is interpreted. */
export type EngineNames = {
  /** Table functions in lower case. */
  readonly tableFunctions: ReadonlySet<string>
  readonly databases: ReadonlySet<string>
}

/**
 * Throws unless the statement only reads the documented databases. `text` is the engine's own formatting of one statement: it
 * contains no comments and no second statement, and all quotes are closed.
 *
 * The engine itself refuses writes under `readonly = 1`. This check covers what that setting permits: writing a file, the function
 * `file`, tables of other databases, and functions that execute text as a statement.
 */
export function requireReadable(text: string, names: EngineNames): void {
  if (!readingStatements.test(text)) {
    throw new GatewayException(164, 'READONLY', 'Cannot execute query in readonly mode.')
  }
  const tokens = tokensOf(text)
  tokens.forEach((token, at) => {
    const next = tokens[at + 1]
    if (token.kind === 'placeholder') refuseIdentifierPlaceholder(token.text)
    if (token.kind !== 'word') return
    if (isKeyword(token, 'INTO') && next !== undefined && isKeyword(next, 'OUTFILE')) {
      throw denied('INTO OUTFILE')
    }
    if (next?.text === '(') refuseFunction(token.text, names)
    const [from, table] = [tokens[at - 2], tokens[at - 1]]
    // SHOW COLUMNS and SHOW INDEXES name the database after the table: FROM table FROM database.
    if (from !== undefined && isKeyword(from, 'FROM') && isKeyword(token, 'FROM')) {
      refuseDatabase(next?.text ?? '', table?.text, names)
    }
    const isFirst = tokens[at - 1]?.text !== '.'
    if (isFirst && next?.text === '.') refuseDatabase(token.text, tokens[at + 2]?.text, names)
  })
}

type Token = {
  readonly kind: 'word' | 'string' | 'placeholder' | 'sign'
  readonly text: string
  readonly isQuoted?: true
}

const tokenPattern =
  /'(?:[^'\\]|\\.|'')*'|`((?:[^`\\]|\\.)*)`|"((?:[^"\\]|\\.)*)"|\{(\s*\w+\s*:[^{}]*)\}|([A-Za-z_]\w*)|\d[\w.]*|\S/gs

function tokensOf(text: string): Token[] {
  return [...text.matchAll(tokenPattern)].map(([whole, ticked, quoted, placeholder, word]) => {
    const name = ticked ?? quoted
    if (name !== undefined) {
      return { kind: 'word', text: name.replaceAll(/\\(.)/gs, '$1'), isQuoted: true }
    }
    if (word !== undefined) return { kind: 'word', text: word }
    if (placeholder !== undefined) return { kind: 'placeholder', text: placeholder }
    return { kind: whole.startsWith("'") ? 'string' : 'sign', text: whole }
  })
}

function isKeyword(token: Token, keyword: string): boolean {
  return token.isQuoted === undefined && token.text.toUpperCase() === keyword
}

function refuseIdentifierPlaceholder(text: string): void {
  if (/:\s*identifier\b/i.test(text)) throw denied('placeholders of type Identifier')
}

function refuseFunction(name: string, { tableFunctions }: EngineNames): void {
  const lower = name.toLowerCase()
  const isOutside = tableFunctions.has(lower) && !harmlessTableFunctions.has(lower)
  if (isOutside || outsideFunctions.test(lower)) throw denied(`the function ${name}`)
}

function refuseDatabase(database: string, table: string | undefined, names: EngineNames): void {
  if (!names.databases.has(database) || readableDatabases.has(database)) return
  if (database === 'system' && table !== undefined && readableSystemTables.has(table)) return
  throw denied(`the database ${database}`)
}

/** Returns the database for a reader's unqualified names. Clients send `default` without being told to. */
export function readerDatabase(wanted: string | undefined): string {
  if (wanted === undefined || wanted === 'default') return 'live'
  if (readableDatabases.has(wanted)) return wanted
  throw denied(`the database ${wanted}`)
}

function denied(what: string): GatewayException {
  const message = `Not enough privileges: this user cannot use ${what}. It reads the databases live and sandbox.`
  return new GatewayException(497, 'ACCESS_DENIED', message)
}
