/*
 * URLs of the console's pages, below the public address of the installation. Secret tokens are in the fragment, which
 * is not sent to servers and so is never logged.
 */

export function setPasswordPageUrl(hostedUrl: string, token: string): string {
  return `${hostedUrl}/console/set-password#token=${token}`
}

/** Returns the page on which a user allows a command line to have a key. */
export function cliSessionPageUrl(hostedUrl: string, sessionId: string): string {
  return `${hostedUrl}/console/cli/${sessionId}`
}
