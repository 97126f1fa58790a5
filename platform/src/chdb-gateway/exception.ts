/** An error in ClickHouse's form: number, name and text. */
export class GatewayException extends Error {
  override readonly name = 'GatewayException'
  readonly code: number
  readonly type: string

  constructor(code: number, type: string, message: string) {
    super(message)
    this.code = code
    this.type = type
  }
}

const statusByCode = new Map([
  ...[26, 27, 36, 42, 43, 53, 62, 72, 117, 456].map((code) => [code, 400] as const),
  ...[46, 47, 50, 56, 60, 81, 115].map((code) => [code, 404] as const),
  [48, 501],
  [159, 500],
  [164, 403],
  [194, 401],
  [202, 503],
  [236, 503],
  [307, 413],
  [452, 400],
  [497, 403],
  [516, 403],
])

export function httpStatusOf(exception: GatewayException): number {
  return statusByCode.get(exception.code) ?? 500
}

/** Parses an error of the engine, which has its number and name only in the text: `Code: 60. DB::Exception: … (UNKNOWN_TABLE)`. */
export function toException(error: unknown): GatewayException {
  if (error instanceof GatewayException) return error
  const text = error instanceof Error ? error.message : String(error)
  const match = /^Code: (\d+)\. DB::Exception: (.*?)\s*\(([A-Z][A-Z0-9_]+)\)\s*$/s.exec(text)
  if (match === null) return new GatewayException(1001, 'STD_EXCEPTION', text)
  return new GatewayException(Number(match[1]), match[3] ?? '', match[2] ?? '')
}

/** Returns the response text of a ClickHouse server. Clients extract number and name from it by pattern. */
export function exceptionBody(exception: GatewayException): string {
  return `Code: ${exception.code}. DB::Exception: ${exception.message} (${exception.type}) (version chdb)\n`
}
