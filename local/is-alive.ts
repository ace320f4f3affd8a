/** Whether a process of this machine is running. */
export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process is there and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
