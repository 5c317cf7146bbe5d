// What the crash rounds run: a job that costs something and takes a while.
export const queue = {
  async grind({ row, sleepMs }, job) {
    await job.sleep(sleepMs);
    return { row, cost: 0.002 };
  },
};
