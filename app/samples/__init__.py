"""What lies in the objects of the gallery and of the documentation's pictures: two people at work.

Everything is made by the intents that a person's click or key would call.
"""
