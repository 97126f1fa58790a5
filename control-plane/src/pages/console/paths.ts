/** Paths of the console's pages, below the base path. */
export const consolePath = '/console'
export const signInPath = '/console/sign-in'
