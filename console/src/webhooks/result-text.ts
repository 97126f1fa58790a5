/** Returns the result of an attempt as text: the status of the response, or why there was none. */
export function resultText(attempt: { readonly status?: number; readonly error?: string }): string {
  const { status, error } = attempt
  if (error === undefined) return status === undefined ? 'No answer' : String(status)
  return status === undefined ? error : `${status}, ${error}`
}
