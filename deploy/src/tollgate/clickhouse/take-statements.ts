export type TakenStatements = {
  /** Whole statements, without the semicolons that end them. */
  readonly statements: readonly string[]
  /** What follows the last of them. */
  readonly rest: string
}

/** A piece of SQL that a semicolon may be part of, closed or not; or a semicolon; or what lies between. */
const piece =
  /'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|`(?:[^`\\]|\\.)*(?:`|$)|--[^\n]*|\/\*(?:(?!\*\/)[\s\S])*(?:\*\/|$)|;|[^'"`;/-]+|[\s\S]/gs

/** Cuts text at the semicolons that end statements: those outside of quotes and comments. */
export function takeStatements(text: string): TakenStatements {
  const statements: string[] = []
  let current = ''
  for (const [part] of text.matchAll(piece)) {
    if (part !== ';') {
      current += part
      continue
    }
    if (current.trim() !== '') statements.push(current.trim())
    current = ''
  }
  return { statements, rest: current }
}
