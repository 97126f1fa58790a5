/*
 * Says whether this container's service can do its work: exit code 0 when its admin port answers that it is ready, 1
 * with the reasons on standard output when not. Docker keeps that output with the container's health.
 */
const url = `http://127.0.0.1:${process.env.TOLLGATE_ADMIN_PORT}/health/ready`
const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch((error) => error)
if (answer.status !== 200) {
  console.log(answer instanceof Error ? answer.message : await answer.text())
  process.exitCode = 1
}
