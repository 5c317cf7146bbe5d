// What the crash rounds run: a job that costs something and takes a while, and an edit. Both echo their input.
export const queue = {
  async grind({ row, sleepMs }, job) {
    await job.sleep(sleepMs);
    return { echo: { row, sleepMs }, cost: 0.002 };
  },
  /** The picture is served where the one to be edited is, and is named by the prompt. */
  paint(input) {
    const url = new URL(`/${input.prompt}.png`, input.images[0]);
    return { echo: input, image_url: url.href, cost: 0.0875 };
  },
};
