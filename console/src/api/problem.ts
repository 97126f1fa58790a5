/** A refused or failed request, with the message of the API. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  /** Stable code of the error, or null if the response had none. */
  readonly code: string | null
  readonly requestId: string | null

  constructor(status: number, text: string, code: string | null, requestId: string | null) {
    super(text)
    this.status = status
    this.code = code
    this.requestId = requestId
  }
}

type Body = {
  readonly message?: unknown
  readonly code?: unknown
  readonly requestId?: unknown
  readonly errors?: readonly { readonly path: readonly unknown[]; readonly message: string }[]
}

/** Returns the problem of a response that is not OK. The body of a proxy's response may not be JSON. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const body = (await response.json().catch(() => ({}))) as Body
  const { code, requestId } = body
  return new ApiProblem(
    response.status,
    textOf(body) ?? `The server answered with status ${response.status}.`,
    typeof code === 'string' ? code : null,
    typeof requestId === 'string' ? requestId : null,
  )
}

function textOf({ message, errors }: Body): string | undefined {
  if (errors !== undefined && errors.length > 0) {
    return errors.map(({ path, message: text }) => `${path.join('.')}: ${text}`).join('. ')
  }
  return typeof message === 'string' ? message : undefined
}
