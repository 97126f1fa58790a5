export type TakenStatements = {
  /** Complete statements, without their final semicolons. */
  readonly statements: readonly string[]
  /** Text after the last complete statement. */
  readonly rest: string
}

/**
 * Matches a quoted text or a comment, closed or not, in which a semicolon does not end a statement; or a semicolon; or other text.
 */
const piece =
  /'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|`(?:[^`\\]|\\.)*(?:`|$)|--[^\n]*|\/\*(?:(?!\*\/)[\s\S])*(?:\*\/|$)|;|[^'"`;/-]+|[\s\S]/gs

/** Splits text at the semicolons that end statements, which are those outside of quotes and comments. */
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
