import { release } from 'node:os'

export type ServerArguments = {
  readonly dataFolder: string
  readonly port: number
  readonly isDurable: boolean
}

/**
 * Returns the command line of the server. Settings are passed there, so that settings of a new release apply to an existing data
 * folder.
 */
export function serverArguments({ dataFolder, port, isDurable }: ServerArguments): string[] {
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // No socket file: its path would be too long in some folders, and in /tmp other users could reach it.
    unix_socket_directories: '',
    fsync: isDurable ? 'on' : 'off',
    full_page_writes: isDurable ? 'on' : 'off',
    synchronous_commit: isDurable ? 'on' : 'off',
    recovery_init_sync_method: reportsErrorsOfSyncfs() ? 'syncfs' : 'fsync',
    // For a small machine that runs everything else too: about 100 MB with full caches.
    shared_buffers: '64MB',
    effective_cache_size: '512MB',
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    max_connections: '80',
    // Parallel workers share memory through /dev/shm, which is tiny in containers.
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',
    io_method: 'sync',
    jit: 'off',
    // Without statistics of new rows, PostgreSQL scans all rows of a provider to find one. Autovacuum collects them.
    autovacuum_naptime: '10s',
    // No server replicates from this one, and this level writes less.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '512MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    logging_collector: 'off',
  }
  return [
    '-D',
    dataFolder,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

/**
 * Returns whether `syncfs` reports write errors: Linux since 5.8 (see "recovery_init_sync_method" in PostgreSQL's manual). After a
 * crash PostgreSQL syncs all its files before it recovers. A thousand single syncs compete with those of the event log and take
 * about a minute under load; one `syncfs` takes a moment.
 */
function reportsErrorsOfSyncfs(): boolean {
  if (process.platform !== 'linux') return false
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 8)
}
