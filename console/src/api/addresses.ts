/** Path of the console with a slash at its end, below the path of the installation. The script is in its folder `assets`. */
export const consolePath = new URL(/* @vite-ignore */ '..', import.meta.url).pathname

/** Address of the installation, without a slash at its end. */
export const installationUrl = location.origin + consolePath.replace(/\/console\/$/, '')
