"""A server of asyncio: tasks that write, and one that is notified of their writes: web.py DATABASE

Each line from a client is a post; every client gets the number of posts so far.

Prints:
ann: 3 answers
ben: 3 answers
6 posts, the feed has shown 6
"""

from __future__ import annotations

import asyncio
import sys

import toft


class Post(toft.Object):
    author: str
    text: str


class Server:
    def __init__(self, realm: toft.Realm) -> None:
        self.realm = realm
        self.served = 0
        self.shown: list[str] = []

    async def client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        author = (await reader.readline()).decode().strip()
        async for line in reader:
            async with self.realm.write():  # other tasks run while this one waits
                self.realm.create(Post, author=author, text=line.decode().strip())
                count = len(self.realm.objects(Post))
            writer.write(f"{count}\n".encode())
            await writer.drain()
        writer.close()
        self.served += 1

    async def feed(self) -> None:
        """Follows the posts of this process and of all others."""
        posts = self.realm.objects(Post)
        async for changes in posts.observe():
            indices = range(len(posts)) if changes.is_initial else changes.insertions
            self.shown += [posts[index].text for index in indices]


async def talk(name: str, port: int) -> None:
    """A client: three posts, one after the other."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{name}\n".encode())
    answers = []
    for number in range(3):
        writer.write(f"{name}'s post {number}\n".encode())
        answers.append(await reader.readline())
    writer.close()
    print(f"{name}: {len(answers)} answers")


async def main(path: str) -> None:
    with toft.open(path, Post) as realm:
        server = Server(realm)
        feed = asyncio.create_task(server.feed())
        listening = await asyncio.start_server(server.client, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        await talk("ann", port)
        await talk("ben", port)
        while server.served < 2 or len(server.shown) < 6:
            await asyncio.sleep(0.01)
        print(f"{len(realm.objects(Post))} posts, the feed has shown {len(server.shown)}")
        feed.cancel()
        listening.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
