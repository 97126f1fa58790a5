/*
 * Checks whether this container's service is ready. Exits with 0 if its admin port reports that. Otherwise exits with 1 and prints
 * the reasons, which Docker stores with the health of the container.
 */
const url = `http://127.0.0.1:${process.env.TOLLGATE_ADMIN_PORT}/health/ready`
const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch((error) => error)
if (answer.status !== 200) {
  console.log(answer instanceof Error ? answer.message : await answer.text())
  process.exitCode = 1
}
