/* Pages of the console, under the public address of the installation. Secret tokens are in the fragment, which no server logs. */

export function setPasswordPageUrl(hostedUrl: string, token: string): string {
  return `${hostedUrl}/console/set-password#token=${token}`
}

/** Where a user lets a command line have a key. */
export function cliSessionPageUrl(hostedUrl: string, sessionId: string): string {
  return `${hostedUrl}/console/cli/${sessionId}`
}
